package doctor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/turn"
)

// eventPlace is where an event stands among those of its tenant.
type eventPlace struct {
	tenant string
	place  int64
}

func (e *examination) event(f fields) {
	e.sessionOf(f, f.text("session_id"))
	if f.value("place") == nil {
		return
	}
	at := eventPlace{f.text("tenant"), f.int("place")}
	if _, taken := e.outbox.places[at]; taken || at.place < 1 {
		e.find(Finding{
			Table: f.table, Tenant: at.tenant, Session: f.text("session_id"),
			Problem: fmt.Sprintf("event %s has place %d, which is no place of its own", f.text("event_id"), at.place),
		})
	}
	e.outbox.places[at] = struct{}{}
}

func (e *examination) accessKey(f fields) {
	id := f.text("key_id")
	wrong := func(format string, args ...any) {
		e.find(Finding{Table: f.table, Tenant: f.text("tenant"), Problem: "key " + id + ": " + fmt.Sprintf(format, args...)})
	}
	if !ids.Valid(id) {
		wrong("its id is not a ULID")
	}
	if e.accessKeys[id] {
		wrong("another tenant has one of that id")
	}
	e.accessKeys[id] = true
	if scopes, err := access.ParseScopes(f.text("scopes")); err != nil || scopes == 0 {
		wrong("%q are no scopes", f.text("scopes"))
	}
	if hash, _ := f.value("hash").([]byte); len(hash) != sha256.Size {
		wrong("its hash has %d bytes", len(hash))
	}
}

func (e *examination) link(f fields) {
	key := turn.Key{Tenant: f.text("tenant"), Session: f.text("session_id")}
	s, ok := e.ids[key]
	if !ok {
		e.find(Finding{Table: f.table, Tenant: key.Tenant, Session: key.Session, Problem: "there is no such session"})
		return
	}
	if hash, err := hex.DecodeString(f.text("hash")); err != nil || len(hash) != sha256.Size {
		e.wrong(f.table, s, "%q is not a hash", f.text("hash"))
	}
	if seq := f.int("seq"); seq < 1 || seq > s.head {
		e.wrong(f.table, s, "a link leads to turn %d of %d", seq, s.head)
	}
}
