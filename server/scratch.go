package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/scratch"
)

func (s *Server) registerScratch(api huma.API) {
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/scratch", id: "listNotes", tag: "scratch",
		summary: "The notes on a session's scratch page",
	}, listNotes)
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/scratch", id: "changeNotes", tag: "scratch", decoded: true,
		summary: "Add, change, archive and clear notes, all or nothing",
		about: "First what is put, then what is archived, then what is cleared, which must be resolved. A note goes forwards only: " +
			"active, pending_review, resolved, archived. The answer is the notes that changed.",
	}, changeNotes)
}

// noteDoc is a note: what [scratch.Observation.AppendJSON] writes.
type noteDoc struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Content     string   `json:"content"`
	Source      string   `json:"source,omitempty" doc:"where it comes from"`
	Owner       string   `json:"owner,omitempty" doc:"who deals with it"`
	Status      string   `json:"status" enum:"active,pending_review,resolved,archived"`
	Confidence  float64  `json:"confidence" doc:"from 0 to 1"`
	ContextRefs []string `json:"context_refs,omitempty" doc:"what it is about: turns, goals, flows, files"`
	Tags        []string `json:"tags,omitempty"`
	ExpiresAt   string   `json:"expires_at" format:"date-time"`
	CreatedAt   string   `json:"created_at" format:"date-time"`
	UpdatedAt   string   `json:"updated_at" format:"date-time"`
}

// noteChangeDoc is a change of a note: what [scratch.Change] is read from.
type noteChangeDoc struct {
	ID          string   `json:"id,omitempty" doc:"left out for a new note"`
	Type        string   `json:"type,omitempty" doc:"of a new note; it never changes"`
	Content     string   `json:"content,omitempty"`
	Source      string   `json:"source,omitempty"`
	Owner       string   `json:"owner,omitempty"`
	Status      string   `json:"status,omitempty" enum:"active,pending_review,resolved,archived"`
	Confidence  float64  `json:"confidence,omitempty" minimum:"0" maximum:"1"`
	ContextRefs []string `json:"context_refs,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	ExpiresAt   string   `json:"expires_at,omitempty" format:"date-time" doc:"within a day"`
}

type noteChangesDoc struct {
	Put     []noteChangeDoc `json:"put,omitempty"`
	Archive []string        `json:"archive,omitempty"`
	Clear   []string        `json:"clear,omitempty"`
}

type notesDoc struct {
	Items []noteDoc `json:"items"`
}

type notesInput struct {
	InSession
	Flow     string `query:"flow" doc:"only what the flow of this id found out"`
	Insights bool   `query:"insights" doc:"only what flows found out"`
	All      bool   `query:"all" doc:"also those that are archived, which are kept for seven days"`
}

func listNotes(ctx context.Context, s *turnstone.Session, in *notesInput) (*answer[exact[notesDoc]], error) {
	notes, err := notesOf(ctx, s, in)
	if err != nil {
		return nil, err
	}
	return items[notesDoc](notes, func(dst []byte, o scratch.Observation) []byte { return o.AppendJSON(dst) }), nil
}

func notesOf(ctx context.Context, s *turnstone.Session, in *notesInput) ([]scratch.Observation, error) {
	read, list, insights := s.Notes, (*scratch.Page).Observations, scratch.Insights
	if in.All {
		read, list, insights = s.KeptNotes, (*scratch.Page).Kept, scratch.KeptInsights
	}
	page, err := read(ctx)
	if err != nil {
		return nil, err
	}
	if in.Insights || in.Flow != "" {
		return insights(page, in.Flow), nil
	}
	return list(page), nil
}

type changeNotesInput struct {
	InSession
	Body read[noteChangesDoc]
}

func changeNotes(ctx context.Context, s *turnstone.Session, in *changeNotesInput) (*answer[exact[notesDoc]], error) {
	changes, err := scratch.DecodeChanges(in.Body.text)
	if err != nil {
		return nil, err
	}
	if len(changes.Put)+len(changes.Archive)+len(changes.Clear) == 0 {
		return nil, invalid.New("put", "is missing", "give put, archive or clear")
	}
	staged, err := s.Note(ctx, changes)
	if err != nil {
		return nil, err
	}
	return items[notesDoc](staged.Rows, func(dst []byte, row scratch.Row) []byte { return append(dst, row.Doc...) }), nil
}
