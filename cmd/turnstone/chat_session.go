package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/prompt"
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

// model is the one that is set for a session, or that answered there last: one that never did may be a slip of the pen. It is
// empty where there is neither.
func (s storeSessions) model(ctx context.Context, name string) (model string, err error) {
	info, err := s.find(ctx, name)
	if err != nil || info.Session == "" || info.Model != "" {
		return info.Model, err
	}
	err = s.store.View(ctx, func(tx store.Tx) (err error) {
		model, err = lastAnswering(ctx, tx, &info)
		return err
	})
	return model, err
}

// lastAnswering is the model of the last prompt that the agent said something after.
func lastAnswering(ctx context.Context, tx store.Tx, info *turn.SessionInfo) (string, error) {
	for _, span := range slices.Backward(info.Spans(info.Head)) {
		replies, err := tx.Log().Scan(ctx, info.Tenant, span, turn.RowFilter{Role: turn.Agent, Newest: true}, 1)
		if err != nil {
			return "", err
		}
		if len(replies) == 0 {
			continue
		}
		row, err := tx.Prompt().LastCall(ctx, info.Tenant, info.Lineage(info.Head), replies[0].Seq-1)
		if err != nil {
			return "", ignore(err, prompt.ErrNotFound)
		}
		call, err := prompt.DecodeCall(row)
		return call.Model, err
	}
	return "", nil
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
