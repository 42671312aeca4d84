package doctor

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// historyTarget is the target of a commit that writes an exchange's turns.
const historyTarget = "history"

// outbox is what is known of exports.
type outbox struct {
	exports hashes // of tenant and export
	opened  hashes // of tenant, segment and the turn that opened the exchange
	numbers map[int64]struct{}
	last    int64 // the highest number
	places  map[eventPlace]struct{}
	// turnless are the exports whose turn is not in the log: it may have been put off.
	turnless map[exportKey]turnless
}

type exportKey struct{ tenant, id string }

type turnless struct {
	in   *segment
	turn string
}

func newOutbox() outbox {
	return outbox{
		exports: newHashes(), opened: newHashes(), numbers: make(map[int64]struct{}),
		turnless: make(map[exportKey]turnless), places: make(map[eventPlace]struct{}),
	}
}

func (k exportKey) name() string { return k.tenant + "/" + k.id }

func (e *examination) export(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	key, opener := exportKey{f.text("tenant"), f.text("export_id")}, f.text("turn_id")
	e.outbox.exports.add(key.name())
	e.outbox.opened.add(turnPlace(s, opener))
	if session := f.text("session_id"); session != s.key.Session {
		e.wrong(f.table, s, "export %s names session %q", key.id, session)
	}
	if first, last := f.int("first_seq"), f.int("last_seq"); first < 0 || first > last || last > s.head {
		e.wrong(f.table, s, "export %s tells of turns %d–%d of %d", key.id, first, last, s.head)
	}
	if !e.inLog(s, opener) {
		e.outbox.turnless[key] = turnless{s, opener}
	}
	if body := f.text("body"); body != "" { // it is empty once it was sent and swept
		if err := strictjson.Check(body); err != nil {
			e.wrong(f.table, s, "export %s is no JSON: nobody can be sent it: %v", key.id, err)
		}
	}
	if f.value("sent_number") == nil {
		if f.value("sent_at") != nil {
			e.wrong(f.table, s, "export %s was sent and has no number", key.id)
		}
		return
	}
	number := f.int("sent_number")
	if _, taken := e.outbox.numbers[number]; taken || number < 1 {
		e.wrong(f.table, s, "export %s was published as number %d, which is no number of its own", key.id, number)
	}
	e.outbox.numbers[number] = struct{}{}
	e.outbox.last = max(e.outbox.last, number)
}

func (e *examination) deferral(f fields) {
	key := e.ofExport(f, f.text("target"))
	if f.text("target") == historyTarget {
		delete(e.outbox.turnless, key)
	}
	if !json.Valid([]byte(f.text("payload"))) {
		e.find(Finding{
			Table: f.table, Tenant: key.tenant, Session: f.text("session_id"), Problem: "what " + f.text("target") + " of export " + key.id + " has to write is no JSON",
		})
	}
}

func (e *examination) letter(f fields) { e.ofExport(f, "letter to "+f.text("daemon")) }

// ofExport checks a row that belongs to an export and names its session.
func (e *examination) ofExport(f fields, what string) exportKey {
	key := exportKey{f.text("tenant"), f.text("export_id")}
	session := f.text("session_id")
	if !e.outbox.exports.has(key.name()) {
		e.find(Finding{Table: f.table, Tenant: key.tenant, Session: session, Problem: what + ": there is no export " + key.id})
	}
	e.sessionOf(f, session)
	return key
}

func (e *examination) sessionOf(f fields, session string) {
	if _, ok := e.ids[turn.Key{Tenant: f.text("tenant"), Session: session}]; !ok {
		e.find(Finding{Table: f.table, Tenant: f.text("tenant"), Session: session, Problem: "there is no such session"})
	}
}

func (e *examination) mark(f fields) {
	through := f.int("through")
	if tenant := f.text("tenant"); tenant != "" {
		e.find(Finding{Table: f.table, Tenant: tenant, Problem: "daemon " + f.text("name") + " belongs to a tenant"})
	}
	if through < 0 || through > e.outbox.last {
		e.find(Finding{Table: f.table, Problem: "daemon " + f.text("name") + " has come further than what was published"})
	}
}

func (e *examination) bus(f fields) {
	if tenant := f.text("tenant"); tenant != "" {
		e.find(Finding{Table: f.table, Tenant: tenant, Problem: "bus " + f.text("name") + " belongs to a tenant"})
	}
}

// part checks that a trace is of a turn in the log, or of an exchange whose turns were put off.
func (e *examination) part(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	if id := f.text("turn_id"); !e.inLog(s, id) && !e.outbox.opened.has(turnPlace(s, id)) {
		e.wrong(f.table, s, "part %s is of turn %s, which is not in the log", f.text("part_id"), id)
	}
	if !json.Valid([]byte(f.text("body"))) {
		e.wrong(f.table, s, "part %s is no JSON", f.text("part_id"))
	}
}

// finishOutbox reports exports whose turn is neither in the log nor waiting to be written.
func (e *examination) finishOutbox() {
	keys := slices.SortedFunc(maps.Keys(e.outbox.turnless), func(a, b exportKey) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.id, b.id))
	})
	for _, key := range keys {
		missing := e.outbox.turnless[key]
		e.wrong("exports", missing.in, "export %s is of turn %s, which is not in the log", key.id, missing.turn)
	}
}
