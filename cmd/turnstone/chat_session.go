package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// sessionToChat finds the session to go on with, and names it in the options: the one that is asked for, the one that
// was used last and is no demo, or a new one. It returns the model that talks there, empty where none did.
func (a *app) sessionToChat(ctx context.Context, st store.Store, o *chatOptions) (model string, err error) {
	sessions := storeSessions{st, a.tenant()}
	if o.session == "" && !o.fresh {
		last, err := sessions.last(ctx)
		if err != nil {
			return "", err
		}
		o.session = last.Session
	}
	if o.session == "" {
		o.session, err = sessions.fresh(ctx)
		return "", err
	}
	return sessions.model(ctx, o.session)
}

// storeSessions reads sessions before there is an engine: its model is the session's.
type storeSessions struct {
	store  store.Store
	tenant string
}

// last is the session that was used last, a zero one where there is none. One that ended goes on; a demo is there to be
// looked at, replayed to its end or not.
func (s storeSessions) last(ctx context.Context) (last turn.SessionInfo, err error) {
	const page = 1000
	key, err := turn.NewKey(s.tenant, chatSession)
	if err != nil {
		return last, err
	}
	err = s.store.View(ctx, func(tx store.Tx) error {
		for filter := (turn.SessionFilter{Tenant: key.Tenant, Limit: page}); ; {
			list, err := tx.Log().Sessions(ctx, filter)
			if err != nil {
				return err
			}
			for _, info := range list {
				if last.Session != "" && !info.LastActivity.After(last.LastActivity) {
					continue
				}
				marks, err := tx.Log().Bookmarks(ctx, info.Key)
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(marks, func(b turn.Bookmark) bool { return b.Name == demoBegin || b.Name == demoEnd }) {
					last = info
				}
			}
			if len(list) < page {
				return nil
			}
			filter.Before = list[len(list)-1].Segment
		}
	})
	return last, err
}

// fresh is the first name that no session has: chat, chat-2 and so on.
func (s storeSessions) fresh(ctx context.Context) (string, error) {
	name := chatSession
	for n := 2; ; n++ {
		info, err := s.find(ctx, name)
		if err != nil || info.Session == "" {
			return name, err
		}
		name = fmt.Sprintf("%s-%d", chatSession, n)
	}
}

// model is the one that is set for a session, or that its last prompt was for; empty where there is no session.
func (s storeSessions) model(ctx context.Context, name string) (string, error) {
	info, err := s.find(ctx, name)
	if err != nil || info.Session == "" || info.Model != "" {
		return info.Model, err
	}
	var last before
	err = s.store.View(ctx, func(tx store.Tx) (err error) {
		last, err = lastBefore(ctx, tx.Prompt(), &info)
		return err
	})
	return last.to.model, err
}

// find returns a session, a zero one where there is none.
func (s storeSessions) find(ctx context.Context, name string) (info turn.SessionInfo, err error) {
	key, err := turn.NewKey(s.tenant, name)
	if err != nil {
		return info, err
	}
	err = s.store.View(ctx, func(tx store.Tx) (err error) {
		info, err = tx.Log().Session(ctx, key)
		return err
	})
	return info, ignore(err, turn.ErrNotFound)
}
