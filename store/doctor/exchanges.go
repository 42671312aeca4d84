package doctor

import (
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/turn"
)

func (e *examination) exchange(f fields) {
	key := turn.Key{Tenant: f.text("tenant"), Session: f.text("session_id")}
	s, ok := e.ids[key]
	if !ok {
		e.find(Finding{Table: f.table, Tenant: key.Tenant, Session: key.Session, Problem: "there is no such session"})
		return
	}
	for _, column := range []string{"export_id", "turn_id"} {
		if id := f.text(column); !ids.Valid(id) {
			e.wrong(f.table, s, "%s %q of the exchange that is under way is not a ULID", column, id)
		}
	}
	reply, content := f.text("reply_id"), f.text("content")
	switch {
	case (reply == "") != (content == ""):
		e.wrong(f.table, s, "reply %q and what there is of it do not go together", reply)
	case reply == "":
	case !ids.Valid(reply):
		e.wrong(f.table, s, "reply_id %q of the exchange that is under way is not a ULID", reply)
	default:
		if _, err := turn.DecodeContent(turn.Agent, turn.FormText, content); err != nil {
			e.wrong(f.table, s, "what there is of reply %s: %v", reply, err)
		}
	}
}
