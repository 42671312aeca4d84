package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/memory"
)

func (s *Server) registerMemory(api huma.API) {
	const about = "What is not asked for does not matter; everything that is must hold. What has expired is never found."
	handle(s, api, route{
		method: http.MethodGet, path: "/memory", id: "searchMemory", tag: "memory",
		summary: "Search what is remembered in all sessions", about: about,
	}, func(ctx context.Context, eng *turnstone.Engine, in *MemorySearch) (*answer[exact[memoryPageDoc]], error) {
		return remembered(ctx, eng.Remembered, in)
	})
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/memory", id: "searchSessionMemory", tag: "memory",
		summary: "Search what is remembered of a session", about: about,
	}, func(ctx context.Context, s *turnstone.Session, in *sessionMemorySearch) (*answer[exact[memoryPageDoc]], error) {
		return remembered(ctx, s.Remembered, &in.MemorySearch)
	})
	handle(s, api, route{
		method: http.MethodDelete, path: "/memory/{item}", id: "forgetItem", tag: "memory", status: http.StatusNoContent,
		summary: "Forget an item of memory, for good", about: "What was said stays in the log.",
	}, forgetItem)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/digest", id: "getDigest", tag: "memory",
		summary: "A session's rolling summary, its topics and its decisions",
	}, digest)
}

// itemDoc is an item of memory: what [memory.Episode.AppendJSON] writes, and whose it is.
type itemDoc struct{}

// Schema is for huma: the members of an item depend on its type.
func (itemDoc) Schema(huma.Registry) *huma.Schema {
	text := func(about string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: about} }
	return &huma.Schema{
		Type:        huma.TypeObject,
		Description: "an item of memory",
		Properties: map[string]*huma.Schema{
			"id":         text("a ULID"),
			"type":       text("user_data, tool_execution, observation, error, scratch_item or event"),
			"text":       text("what it says"),
			"session_id": text("the session it was remembered of"),
			"user_id":    text("the user it was remembered of"),
			"archived":   {Type: huma.TypeBoolean, Description: "it made room for more important items"},
		},
		AdditionalProperties: true,
	}
}

type memoryPageDoc struct {
	Items []itemDoc `json:"items"`
	Next  string    `json:"next,omitempty" doc:"the cursor of the next page; on the last there is none"`
}

// MemorySearch is the part of a request that says which items are looked for. It is exported for huma, which reads it.
type MemorySearch struct {
	Paging
	Text          string    `query:"text" maxLength:"4096" doc:"words that an item holds, in any order, case and ending"`
	Tags          []string  `query:"tag,explode" maxItems:"64" doc:"a tag that an item has; may be repeated"`
	Type          string    `query:"type" doc:"only of this type" enum:"user_data,tool_execution,observation,error,scratch_item,event"`
	User          string    `query:"user" doc:"only of this user"`
	Since         time.Time `query:"since" doc:"not made before"`
	Until         time.Time `query:"until" doc:"made before"`
	MinImportance float64   `query:"min_importance" minimum:"0" maximum:"1" doc:"so important or more"`
	Archived      bool      `query:"archived" doc:"also what made room for more important items"`
	Order         string    `query:"order" enum:"newest,importance" default:"newest"`
}

type sessionMemorySearch struct {
	InSession
	MemorySearch
}

func remembered(ctx context.Context, ask func(context.Context, memory.Search) (turnstone.Remembered, error), in *MemorySearch) (*answer[exact[memoryPageDoc]], error) {
	found, err := ask(ctx, memory.Search{
		Text: in.Text, Tags: in.Tags, Type: memory.Type(in.Type), User: in.User, Since: in.Since, Until: in.Until,
		MinImportance: in.MinImportance, Archived: in.Archived, Order: memory.Order(in.Order), Limit: in.Limit, Cursor: in.Cursor,
	})
	if err != nil {
		return nil, err
	}
	text := list([]byte(`{"items":`), found.Items, appendItem)
	if found.Next != "" {
		text = strictjson.AppendString(append(text, `,"next":`...), found.Next)
	}
	return exactly[memoryPageDoc](append(text, '}')), nil
}

func appendItem(dst []byte, item turnstone.RememberedItem) []byte {
	dst = item.AppendJSON(dst)
	dst = dst[:len(dst)-1]
	dst = strictjson.AppendString(append(dst, `,"session_id":`...), item.Owner.Session)
	if item.Owner.User != "" {
		dst = strictjson.AppendString(append(dst, `,"user_id":`...), item.Owner.User)
	}
	if item.Archived {
		dst = append(dst, `,"archived":true`...)
	}
	return append(dst, '}')
}

type itemInput struct {
	Item string `path:"item" minLength:"1" maxLength:"128" doc:"the item's id"`
}

func forgetItem(ctx context.Context, eng *turnstone.Engine, in *itemInput) (*nothing, error) {
	forgotten, err := eng.ForgetItems(ctx, in.Item)
	if err == nil && forgotten == 0 {
		err = fmt.Errorf("memory %s: %w", in.Item, memory.ErrNotFound)
	}
	return &nothing{}, err
}

func digest(ctx context.Context, s *turnstone.Session, _ *struct{ InSession }) (*answer[exact[object]], error) {
	d, err := s.Digest(ctx)
	if err != nil {
		return nil, err
	}
	return exactly[object](d.AppendJSON(nil)), nil
}
