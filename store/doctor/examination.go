package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// examination is what is known while rows go by. Rows come in the order of store.Schema.
type examination struct {
	found    func(Finding)
	progress func(int64)
	report   Report
	tables   map[string]map[string]int // table → column → position

	alone    bool // one session is looked at, which may be one that is being imported
	segments map[int64]*segment
	staged   map[int64]bool // segments of sessions that are being imported: nobody sees them
	ids      map[turn.Key]*segment
	blobs    map[blobKey]bool // stored bytes
	refs     map[blobRef]bool // what turns refer to; true once blob_refs confirms it

	turnIDs    hashes // of tenant, segment and turn
	intentions intentions
	page       page
	outbox     outbox
	prompts    prompts

	checkpoints checkpoints
	summaries   summaries
	accessKeys  map[string]bool // by id
}

// segment is one session and what its rows must add up to.
type segment struct {
	key       turn.Key
	number    int64
	forkSeq   int64
	head      int64
	parent    string
	inherited []span.Span
	bequeaths bool                    // a fork inherits from it
	versions  map[intention][]version // kept where it bequeaths them

	lastSeq   int64               // of the turns seen so far
	open      map[string]openCall // calls without a result
	forgotten []int64             // turns that are tombstones, ascending
	revision  struct {
		seen             bool
		number, afterSeq int64
	}
}

type openCall struct {
	name string
	unit int64
}

type blobKey struct{ tenant, sha256 string }

type blobRef struct {
	blobKey
	segment, seq int64
}

func newExamination(found func(Finding), progress func(int64)) *examination {
	e := &examination{
		found: found, progress: progress, tables: make(map[string]map[string]int),
		segments: make(map[int64]*segment), staged: make(map[int64]bool), ids: make(map[turn.Key]*segment),
		blobs: make(map[blobKey]bool), refs: make(map[blobRef]bool),
		turnIDs: newHashes(), outbox: newOutbox(),
		prompts: prompts{known: newHashes()}, summaries: newSummaries(),
		accessKeys: make(map[string]bool),
	}
	for _, t := range store.Schema {
		columns := make(map[string]int, len(t.Columns))
		for i, c := range t.Columns {
			columns[c.Name] = i
		}
		e.tables[t.Name] = columns
	}
	return e
}

func (e *examination) find(f Finding) {
	e.report.Findings++
	e.found(f)
}

// fields reads a row's values by column. A value of another type than the schema's reads as zero
// and is reported.
type fields struct {
	e     *examination
	table string
	row   store.Row
}

func (f fields) value(column string) any { return f.row.Values[f.e.tables[f.table][column]] }

func (f fields) text(column string) string {
	switch v := f.value(column).(type) {
	case string:
		return v
	case nil:
		return ""
	default:
		f.e.find(Finding{Table: f.table, Problem: fmt.Sprintf("%s holds a %T where text belongs", column, v)})
		return ""
	}
}

func (f fields) int(column string) int64 {
	switch v := f.value(column).(type) {
	case int64:
		return v
	case nil:
		return 0
	default:
		f.e.find(Finding{Table: f.table, Problem: fmt.Sprintf("%s holds a %T where a number belongs", column, v)})
		return 0
	}
}

func (e *examination) row(r store.Row) error {
	columns, known := e.tables[r.Table]
	if !known || len(columns) != len(r.Values) {
		e.find(Finding{Table: r.Table, Problem: fmt.Sprintf("row of %d values fits no table", len(r.Values))})
		return nil
	}
	f := fields{e: e, table: r.Table, row: r}
	switch r.Table {
	case "sessions":
		e.session(f)
	case "spans":
		e.span(f)
	case "bookmarks", "leases":
		e.named(f)
	case "turns":
		e.turn(f)
	case "open_calls":
		e.openCall(f)
	case "blobs":
		e.blob(f)
	case "blob_refs":
		e.blobRef(f)
	case "revisions":
		e.revision(f)
	case "completed_flows", "flow_turns":
		e.flow(f)
	case "intentions":
		e.intention(f)
	case "observations":
		e.observation(f)
	case "memory_items":
		e.item(f)
	case "digests":
		e.digest(f)
	case "exports":
		e.export(f)
	case "deferrals":
		e.deferral(f)
	case "events":
		e.event(f)
	case "daemons":
		e.mark(f)
	case "buses":
		e.bus(f)
	case "dead_letters":
		e.letter(f)
	case "trace_parts":
		e.part(f)
	case "epochs":
		e.epoch(f)
	case "prompts":
		e.prompt(f)
	case "pins":
		e.pin(f)
	case "materials":
		e.material(f)
	case "calibrations":
		e.calibration(f)
	case "checkpoints":
		e.checkpoint(f)
	case "breakers":
		e.breaker(f)
	case "drafts":
		e.exchange(f)
	case "snapshots":
		e.snapshot(f)
	case "access_keys":
		e.accessKey(f)
	case "chain_links":
		e.link(f)
	}
	return nil
}

func (e *examination) session(f fields) {
	e.report.Sessions++
	s := &segment{
		key:    turn.Key{Tenant: f.text("tenant"), Session: f.text("session_id")},
		number: f.int("segment"), forkSeq: f.int("fork_seq"), head: f.int("head_seq"), parent: f.text("parent_id"),
		open: make(map[string]openCall),
	}
	s.lastSeq = s.forkSeq
	if s.key.Importing() && !e.alone {
		e.report.Sessions--
		e.staged[s.number] = true
		return
	}
	for _, name := range []string{s.key.Tenant, s.key.Session} {
		if err := ids.CheckName("name", name); err != nil && !s.key.Importing() {
			e.wrong(f.table, s, "%v", err)
		}
	}
	if st := turn.Status(f.text("status")); st != turn.Active && st != turn.Ended {
		e.wrong(f.table, s, "status %q is neither active nor ended", st)
	}
	if s.head < s.forkSeq {
		e.wrong(f.table, s, "head %d lies before the fork point %d", s.head, s.forkSeq)
	}
	if other, taken := e.segments[s.number]; taken {
		e.wrong(f.table, s, "segment %d is also that of %s", s.number, other.key.Session)
	}
	e.segments[s.number] = s
	e.ids[s.key] = s
}

func (e *examination) wrong(table string, s *segment, format string, args ...any) {
	e.find(Finding{Table: table, Tenant: s.key.Tenant, Session: s.key.Session, Problem: fmt.Sprintf(format, args...)})
}

// owner returns the session whose segment the row is in.
func (e *examination) owner(f fields) (*segment, bool) {
	n := f.int("segment")
	if e.staged[n] {
		return nil, false
	}
	s, ok := e.segments[n]
	if !ok || s.key.Tenant != f.text("tenant") {
		e.find(Finding{Table: f.table, Tenant: f.text("tenant"), Problem: fmt.Sprintf("segment %d belongs to no session of tenant %s", n, f.text("tenant"))})
		return nil, false
	}
	return s, true
}

func (e *examination) span(f fields) {
	heir, ok := e.segments[f.int("heir")]
	if !ok || heir.key.Tenant != f.text("tenant") {
		e.find(Finding{Table: f.table, Tenant: f.text("tenant"), Problem: fmt.Sprintf("heir %d is no session of tenant %s", f.int("heir"), f.text("tenant"))})
		return
	}
	from, ok := e.owner(f)
	if !ok {
		return
	}
	s := span.Span{Segment: f.int("segment"), From: f.int("from_seq"), To: f.int("to_seq")}
	want := int64(1)
	if n := len(heir.inherited); n > 0 {
		want = heir.inherited[n-1].To + 1
	}
	if s.From != want || s.Empty() {
		e.wrong(f.table, heir, "inherits %d–%d where turn %d comes next", s.From, s.To, want)
	}
	if s.From <= from.forkSeq || s.To > from.head {
		e.wrong(f.table, heir, "inherits %d–%d from %s, which holds %d–%d", s.From, s.To, from.key.Session, from.forkSeq+1, from.head)
	}
	heir.inherited = append(heir.inherited, s)
	from.bequeaths = true
}

func (e *examination) named(f fields) {
	key := turn.Key{Tenant: f.text("tenant"), Session: f.text("session_id")}
	s, ok := e.ids[key]
	if !ok && key.Importing() {
		return
	}
	if !ok {
		e.find(Finding{Table: f.table, Tenant: key.Tenant, Session: key.Session, Problem: "there is no such session"})
		return
	}
	if seq := f.table == "bookmarks"; seq && (f.int("seq") < 0 || f.int("seq") > s.head) {
		e.wrong(f.table, s, "bookmark %s stands at turn %d of %d", f.text("name"), f.int("seq"), s.head)
	}
}

// finish looks at what must have come and did not, in the order of the sessions.
func (e *examination) finish() {
	for _, n := range slices.Sorted(maps.Keys(e.segments)) {
		s := e.segments[n]
		if s.lastSeq != s.head {
			e.wrong("turns", s, "end at %d, the session's head is %d", s.lastSeq, s.head)
		}
		for _, id := range slices.Sorted(maps.Keys(s.open)) {
			e.wrong("open_calls", s, "call %q of turn %d has no result and is not listed as open", id, s.open[id].unit)
		}
		inherited := int64(0)
		if n := len(s.inherited); n > 0 {
			inherited = s.inherited[n-1].To
		}
		if inherited != s.forkSeq {
			e.wrong("spans", s, "forked after turn %d but inherits %d turns", s.forkSeq, inherited)
		}
		if !s.revision.seen {
			e.wrong("revisions", s, "has no dialogue state")
		}
	}
	refs := slices.SortedFunc(maps.Keys(e.refs), func(a, b blobRef) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.seq, b.seq))
	})
	for _, ref := range refs {
		s := e.segments[ref.segment]
		if !e.refs[ref] {
			e.wrong("blob_refs", s, "turn %d refers to bytes %s without a reference that keeps them", ref.seq, ref.sha256)
		}
		if !e.blobs[ref.blobKey] {
			e.wrong("blobs", s, "the bytes %s of turn %d are missing", ref.sha256, ref.seq)
		}
	}
	e.finishIntentions()
	e.finishPage()
	e.finishOutbox()
	e.finishPrompts()
	e.finishCheckpoints()
	e.finishSummaries()
}
