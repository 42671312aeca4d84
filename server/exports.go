package server

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

func (s *Server) registerExports(api huma.API) {
	handle(s, api, route{
		method: http.MethodGet, path: "/exports", id: "listExports", tag: "exports",
		summary: "The exports of commits that were published, oldest first",
		about: "Exports are kept for 7 days after they were sent. Next is given always, so that what comes later can be asked for with it; " +
			"a page may have none though there are more behind it. In the place of an export that cannot be read stands what is known of it: its " +
			"export_id, turn_id, timestamp, tenant, session_id and status, its schema_version where a newer turnstone wrote it, and why it cannot be read as unreadable.",
	}, listExports)
	handle(s, api, route{
		method: http.MethodGet, path: "/exports/{export}", id: "getExport", tag: "exports",
		summary: "A StateExport",
		about:   "By its id, or by that of the turn that opened the exchange; where that opened one in a fork too, the export of the session where it was said.",
	}, showExport)
	handle(s, api, route{
		method: http.MethodGet, path: "/traces/{turn}", id: "getTrace", tag: "exports",
		summary: "What happened in an exchange: its phases with their times, and what was decided on the way",
		about: "By the turn that opened it, or by its export. Of a turn that opened an exchange in a fork too, the trace is that of the session where " +
			"it was said, and elsewhere has the session_id and export_id of the other. Traces are kept for 90 days.",
	}, showTrace)
}

type exportsDoc struct {
	Items []object `json:"items" doc:"StateExports"`
	Next  string   `json:"next" doc:"the cursor of what comes after"`
}

type exportsInput struct {
	Paging
	After string `query:"after" doc:"the same as cursor"`
}

const exportList = "exports"

func listExports(ctx context.Context, eng *turnstone.Engine, in *exportsInput) (*answer[exact[exportsDoc]], error) {
	if in.Cursor != "" && in.After != "" {
		return nil, invalid.New("after", "is given beside cursor", "give one of them")
	}
	in.Cursor = cmp.Or(in.Cursor, in.After)
	after, err := placeOf(exportList, in.Cursor)
	if err != nil && in.After != "" {
		return nil, misplacedCursor("after")
	}
	if err != nil {
		return nil, err
	}
	messages, through, err := eng.PublishedAfter(ctx, after, in.Limit)
	if err != nil {
		return nil, err
	}
	text := list([]byte(`{"items":`), messages, func(dst []byte, m event.Message) []byte { return append(dst, m.Body...) })
	if through != "" {
		through = cursorOf(exportList, through)
	}
	text = append(text, `,"next":"`+through+`"}`...) // a cursor has nothing that must be escaped
	return exactly[exportsDoc](text), nil
}

func showExport(ctx context.Context, eng *turnstone.Engine, in *struct {
	Export string `path:"export" minLength:"1" maxLength:"128" doc:"the id of the export, or of the turn that opened the exchange"`
}) (*answer[exact[object]], error) {
	export, err := eng.Export(ctx, in.Export)
	if err != nil {
		return nil, err
	}
	return exactly[object](export.AppendJSON(nil)), nil
}

func showTrace(ctx context.Context, eng *turnstone.Engine, in *struct {
	Turn string `path:"turn" minLength:"1" maxLength:"128" doc:"the id of the turn that opened the exchange, or of its export"`
}) (*answer[exact[object]], error) {
	t, err := eng.Trace(ctx, in.Turn)
	if err != nil {
		return nil, err
	}
	return exactly[object](t.AppendJSON(nil)), nil
}
