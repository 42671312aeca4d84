package doctor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// prompts is where the rows stand that are numbered along a session's lineage.
type prompts struct {
	epochs, calls, pins numbered
	known               hashes // of tenant, segment and number of the epochs
}

// numbered is the rows of one such table: those of a segment come one after the other.
type numbered struct {
	of         *segment
	last       version
	begun      []start                // by forks
	bequeathed map[*segment][]version // the rows of segments that forks inherit from
}

// start is the first number that a fork's own segment has.
type start struct {
	in     *segment
	number int64
}

// next checks that a row follows the one before it in its segment.
func (n *numbered) next(e *examination, table, what string, s *segment, v version) {
	switch {
	case n.of == s:
		if v.number != n.last.number+1 {
			e.wrong(table, s, "%s %d follows %s %d", what, v.number, what, n.last.number)
		}
	case len(s.inherited) > 0:
		n.begun = append(n.begun, start{s, v.number})
	case v.number != 1:
		e.wrong(table, s, "the first %s is %d", what, v.number)
	}
	n.of, n.last = s, v
	if s.bequeaths {
		if n.bequeathed == nil {
			n.bequeathed = make(map[*segment][]version)
		}
		n.bequeathed[s] = append(n.bequeathed[s], v)
	}
}

// finish holds what forks numbered first against what they inherit. A fork may have copies of what its
// parent has at the fork point and counts on from there; what the parent adds there later does not count.
func (n *numbered) finish(e *examination, table, what string) {
	for _, first := range n.begun {
		before, at := int64(0), int64(0)
		for _, in := range first.in.inherited {
			for _, v := range n.bequeathed[e.segments[in.Segment]] {
				if v.after < in.To {
					before = max(before, v.number)
				}
				if v.after <= in.To {
					at = max(at, v.number)
				}
			}
		}
		if first.number <= before || first.number > at+1 {
			e.wrong(table, first.in, "%s %d follows %s %d that it inherits", what, first.number, what, at)
		}
	}
}

// inherits reports whether the session sees a row of that number in a segment it inherits from.
func (n *numbered) inherits(e *examination, s *segment, number int64) bool {
	for _, in := range s.inherited {
		if slices.ContainsFunc(n.bequeathed[e.segments[in.Segment]], func(v version) bool { return v.number == number && v.after <= in.To }) {
			return true
		}
	}
	return false
}

func (e *examination) epoch(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	v := version{f.int("number"), f.int("after_seq")}
	e.opened(f, s, "epoch", &e.prompts.epochs, v)
	e.prompts.known.add(epochPlace(s, v.number))
	if e.document(f, s, "epoch", v.number) {
		e.projected(f, s, v)
	}
}

// projected looks at what an epoch says that its prompts show.
func (e *examination) projected(f fields, s *segment, v version) {
	epoch, err := prompt.DecodeEpoch(prompt.EpochRow{Number: v.number, AfterSeq: v.after, Doc: f.text("doc")})
	if err != nil {
		e.wrong(f.table, s, "%v: no prompt of it can be made; bring the session back from a bundle or a backup", err)
		return
	}
	if epoch.From < 1 || epoch.From > v.after+1 {
		e.wrong(f.table, s, "epoch %d, opened after turn %d, shows the turns from %d on", v.number, v.after, epoch.From)
	}
	if epoch.Context < 0 {
		e.wrong(f.table, s, "epoch %d is for a context of %d tokens", v.number, epoch.Context)
	}
	last := int64(0)
	for i, r := range epoch.Path {
		open := i == len(epoch.Path)-1 && r.To == 0
		if r.From <= last || r.To < r.From && !open {
			e.wrong(f.table, s, "the path of epoch %d has turns %d–%d behind turn %d", v.number, r.From, r.To, last)
		}
		last = r.To
	}
	if epoch.Before < 0 || epoch.Before >= v.number {
		e.wrong(f.table, s, "epoch %d goes back to epoch %d, which is not before it", v.number, epoch.Before)
	}
	kept, paged := make([]turn.Range, len(epoch.Kept)), make([]turn.Range, len(epoch.Paged))
	for i := range epoch.Kept {
		kept[i] = epoch.Kept[i].Range
	}
	for i := range epoch.Paged {
		paged[i] = epoch.Paged[i].Range
	}
	quoted := make([]turn.Range, len(epoch.Quotes))
	for i, q := range epoch.Quotes {
		quoted[i] = turn.Range{From: q.Turn, To: q.Turn}
	}
	e.inOrder(f, s, v, "keeps", kept)
	e.inOrder(f, s, v, "names", paged)
	e.inOrder(f, s, v, "quotes", quoted)
	e.inOrder(f, s, v, "names", epoch.Unquoted)
	e.refer(f, s, &epoch)
}

// inOrder checks that ranges are of turns that there were, in the order in which they end.
func (e *examination) inOrder(f fields, s *segment, v version, does string, ranges []turn.Range) {
	last := int64(0)
	for _, r := range ranges {
		if r.From < 1 || r.To < r.From || r.To > v.after {
			e.wrong(f.table, s, "epoch %d, opened after turn %d, %s turns %d–%d", v.number, v.after, does, r.From, r.To)
		}
		if r.To < last {
			e.wrong(f.table, s, "epoch %d %s turns %d–%d behind turn %d", v.number, does, r.From, r.To, last)
		}
		last = r.To
	}
}

func epochPlace(s *segment, number int64) string {
	return segmentPlace(s.key.Tenant, s.number, strconv.FormatInt(number, 10))
}

// opened checks a row that was written after a turn.
func (e *examination) opened(f fields, s *segment, what string, n *numbered, v version) {
	if n.of == s && v.after < n.last.after {
		e.wrong(f.table, s, "%s %d after turn %d follows one after turn %d", what, v.number, v.after, n.last.after)
	}
	if v.after < s.forkSeq || v.after > s.head {
		e.wrong(f.table, s, "%s %d comes after turn %d of %d–%d", what, v.number, v.after, s.forkSeq, s.head)
	}
	n.next(e, f.table, what, s, v)
}

func (e *examination) document(f fields, s *segment, what string, number int64) (ok bool) {
	if ok = json.Valid([]byte(f.text("doc"))); !ok {
		e.wrong(f.table, s, "the document of %s %d is not JSON", what, number)
	}
	return ok
}

func (e *examination) prompt(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	v, epoch := version{f.int("number"), f.int("end_seq")}, f.int("epoch")
	if v.after < 0 || v.after > s.head {
		e.wrong(f.table, s, "prompt %d ends with turn %d of %d", v.number, v.after, s.head)
	}
	e.prompts.calls.next(e, f.table, "prompt", s, v)
	if !e.prompts.known.has(epochPlace(s, epoch)) && !e.prompts.epochs.inherits(e, s, epoch) {
		e.wrong(f.table, s, "prompt %d is of epoch %d, which there is not", v.number, epoch)
	}
	e.document(f, s, "prompt", v.number)
}

func (e *examination) pin(f fields) {
	s, ok := e.owner(f)
	if !ok {
		return
	}
	v, seq := version{f.int("number"), f.int("after_seq")}, f.int("seq")
	e.opened(f, s, "pin", &e.prompts.pins, v)
	if seq < 1 || seq > v.after {
		e.wrong(f.table, s, "pin %d is of turn %d, said after turn %d", v.number, seq, v.after)
	}
	if p := f.int("pinned"); p != 0 && p != 1 {
		e.wrong(f.table, s, "pin %d is neither set nor taken back but %d", v.number, p)
	}
}

func (e *examination) material(f fields) {
	sum := sha256.Sum256([]byte(f.text("text")))
	if name := f.text("sha256"); hex.EncodeToString(sum[:]) != name {
		e.find(Finding{Table: f.table, Tenant: f.text("tenant"), Problem: "the text under " + name + " is not that of that hash"})
	}
}

func (e *examination) calibration(f fields) {
	if !json.Valid([]byte(f.text("doc"))) {
		e.find(Finding{Table: f.table, Tenant: f.text("tenant"), Problem: "what is known about model " + f.text("model") + " is not JSON"})
	}
}

func (e *examination) finishPrompts() {
	e.prompts.epochs.finish(e, "epochs", "epoch")
	e.prompts.calls.finish(e, "prompts", "prompt")
	e.prompts.pins.finish(e, "pins", "pin")
}
