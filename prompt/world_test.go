package prompt_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// exact is a model whose tokens are counted with its own vocabulary.
var exact = budget.Profile{
	Name: "exact", Provider: budget.OpenAI, Context: budget.MaxContext, Tokenizer: budget.O200k,
	Template: budget.Template{Prompt: 3, Message: 4, Call: 5, Tool: 8, Image: 100}, Vision: true,
}

// world is a store with a session in it, and what its prompts are compiled for.
type world struct {
	testing.TB
	db      *mem.Store
	key     turn.Key
	ids     uint64
	request prompt.Request
	faults  faults

	earlier *prompt.Projection
	last    *prompt.Prompt
	passes  []prompt.Pass // of the last prompt
	calls   int64
	made    []made
}

// made is a prompt as it was when it was compiled.
type made struct {
	prompt *prompt.Prompt
	text   string
	call   prompt.Call
}

func newWorld(t testing.TB, context int) *world {
	t.Helper()
	window, err := budget.WindowOf(context)
	if err != nil {
		t.Fatal(err)
	}
	compression, err := budget.Compression{}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, db: mem.New(mem.Config{Clock: func() time.Time { return passTime }}), key: turn.Key{Tenant: "acme", Session: "main"}}
	w.request = prompt.Request{
		Default: seal(t, prompt.Settings{}), Model: "exact", Window: window,
		Counter: budget.NewCounter(exact, nil, false, budget.Calibration{}), Compression: compression,
	}
	w.update(func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(t.Context(), turn.SessionInfo{
			Key: w.key, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now(),
		})
		return err
	})
	t.Cleanup(func() {
		for _, m := range w.made {
			if now := textOf(m.prompt); now != m.text {
				t.Errorf("a prompt was changed after it was compiled: %s", cmp.Diff(m.text, now))
			}
		}
		if err := w.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func seal(t testing.TB, s prompt.Settings) prompt.Sealed {
	t.Helper()
	sealed, err := s.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// begin has the next prompts begin with the settings.
func (w *world) begin(s prompt.Settings) {
	w.Helper()
	sealed := seal(w, s)
	w.request.Settings = &sealed
}

func (w *world) update(f func(store.Tx) error) {
	w.Helper()
	if err := w.db.Update(w.Context(), f); err != nil {
		w.Fatal(err)
	}
}

func (w *world) view(f func(store.Tx, turn.SessionInfo) error) error {
	return w.db.View(w.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(w.Context(), w.key)
		if err != nil {
			return err
		}
		return f(tx, info)
	})
}

// append writes turns and returns the seq of the last one.
func (w *world) append(drafts ...turn.Draft) int64 {
	w.Helper()
	var sealed []turn.Sealed
	for _, d := range drafts {
		w.ids++
		d.ID = turngen.ID(w.ids)
		s, err := d.Seal(turn.Limits{Text: 64 << 20, Blob: 1 << 20, Calls: 256})
		if err != nil {
			w.Fatal(err)
		}
		sealed = append(sealed, s)
	}
	var last int64
	w.update(func(tx store.Tx) error {
		turns, err := turn.Append(w.Context(), tx.Log(), w.key, tx.Now(), sealed...)
		if err == nil {
			last = turns[len(turns)-1].Seq
		}
		return err
	})
	return last
}

func user(text string) turn.Draft {
	return turn.Draft{Role: turn.User, Content: turn.Text{Text: text}}
}

func agent(text string) turn.Draft {
	return turn.Draft{Role: turn.Agent, Content: turn.Text{Text: text}}
}

// part is a part of the user's message of that id.
func part(message, text string) turn.Draft {
	d := user(text)
	d.MessageID = message
	return d
}

// call is an agent's turn that calls a tool for each id.
func call(ids ...string) turn.Draft {
	var c turn.Text
	for _, id := range ids {
		c.ToolCalls = append(c.ToolCalls, turn.ToolCall{ID: id, Name: "search", Arguments: `{"q":1}`})
	}
	return turn.Draft{Role: turn.Agent, Content: c}
}

func result(id, text string) turn.Draft {
	return turn.Draft{Role: turn.System, Content: turn.Result{Name: "search", CallID: id, Status: turn.CallOK, Result: fmt.Sprintf("%q", text)}}
}

func summary(to int64) turn.Draft {
	return turn.Draft{
		Role: turn.System, Kind: turn.KindSummary, Covers: turn.Range{From: 1, To: to}, Content: turn.Text{Text: "in short"},
	}
}

// words is a text of n tokens.
func words(n int) string { return strings.Repeat(" word", n)[1:] }

// try compiles without keeping anything.
func (w *world) try(earlier *prompt.Projection) (c prompt.Compiled, err error) {
	err = w.view(func(tx store.Tx, info turn.SessionInfo) (err error) {
		r := w.request
		r.Session = info
		c, err = prompt.Compile(w.Context(), w.rows(tx), r, earlier)
		return err
	})
	return c, err
}

// compile makes the next prompt and keeps it. It holds every prompt to what all of them promise: compiled
// from memory it is the same as from the store alone, it extends the one before unless it opened an epoch,
// and it can be made again.
func (w *world) compile() *prompt.Prompt {
	w.Helper()
	fresh, err := w.try(nil)
	if err != nil {
		w.Fatal(err)
	}
	c, err := w.try(w.earlier)
	if err != nil {
		w.Fatal(err)
	}
	if diff := differs(fresh.Opened, c.Opened); diff != "" {
		w.Fatalf("the epoch from the store and from memory: %s", diff)
	}
	if diff := differs(fresh.Prompt, c.Prompt); diff != "" {
		w.Fatalf("the prompt from the store and from memory: %s", diff)
	}
	if diff := differs(fresh.Passes, c.Passes, uncounted); diff != "" {
		w.Fatalf("the passes from the store and from memory: %s", diff)
	}
	w.extends(c.Prompt)
	w.keep(c)
	w.earlier, w.last, w.passes = c.Projection, c.Prompt, c.Passes
	return c.Prompt
}

func (w *world) extends(p *prompt.Prompt) {
	w.Helper()
	if w.last == nil || p.Opened != "" {
		return
	}
	before := w.last.Messages
	if w.last.Late != "" {
		before = before[:len(before)-1]
	}
	for i, m := range before {
		if len(p.Messages) <= i {
			w.Fatalf("message %d is gone", i)
		}
		is := p.Messages[i]
		if i == len(before)-1 {
			is.Parts, is.Seqs = is.Parts[:len(m.Parts)], is.Seqs[:len(m.Seqs)]
		}
		if diff := differs(m, is); diff != "" {
			w.Fatalf("message %d: %s", i, diff)
		}
	}
}

// keep stores a compiled prompt and makes it again.
func (w *world) keep(c prompt.Compiled) {
	w.Helper()
	kept := w.store(c)
	w.made = append(w.made, made{c.Prompt, textOf(c.Prompt), kept})
	again, err := w.rebuild(kept)
	if err != nil {
		w.Fatal(err)
	}
	want := *c.Prompt
	want.Opened, want.LeftOut = "", nil
	if diff := differs(&want, again); diff != "" {
		w.Fatalf("made again: %s", diff)
	}
}

// store stores a compiled prompt and the epoch that it opened.
func (w *world) store(c prompt.Compiled) prompt.Call {
	w.Helper()
	p := c.Prompt
	w.calls++
	kept := prompt.Call{
		Number: w.calls, End: p.End, Epoch: p.Epoch, SHA256: p.SHA256, Renderer: prompt.Renderer,
		Settings: p.Settings, Model: p.Model, Context: int64(p.Window.Context), Tokens: int64(p.Count.Tokens), Late: p.Late,
	}
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().Session(w.Context(), w.key)
		if err == nil && c.Opened != nil {
			if err := c.Settings.Put(w.Context(), tx.Prompt(), w.key.Tenant, tx.Now()); err != nil {
				return err
			}
			if err := putCheckpoints(w.Context(), tx, info, c.Passes); err != nil {
				return err
			}
			err = prompt.Open(w.Context(), tx.Prompt(), info, *c.Opened, tx.Now())
		}
		if err != nil {
			return err
		}
		row := kept.Row()
		row.At = tx.Now()
		return tx.Prompt().InsertCall(w.Context(), w.key.Tenant, info.Segment, row)
	})
	return kept
}

func (w *world) rebuild(c prompt.Call) (p *prompt.Prompt, err error) {
	err = w.view(func(tx store.Tx, info turn.SessionInfo) (err error) {
		p, err = prompt.Rebuild(w.Context(), w.rows(tx), info, c, w.request.Counter)
		return err
	})
	return p, err
}

// epoch returns the session's last epoch.
func (w *world) epoch() (e prompt.Epoch) {
	w.Helper()
	err := w.view(func(tx store.Tx, info turn.SessionInfo) error {
		row, err := tx.Prompt().LastEpoch(w.Context(), w.key.Tenant, info.Lineage(info.Head))
		if err == nil {
			e, err = prompt.DecodeEpoch(row)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// reopen stores an epoch of the test's own making after the last one.
func (w *world) reopen(edit func(*prompt.Epoch)) {
	w.Helper()
	e := w.epoch()
	e.Number++
	edit(&e)
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().Session(w.Context(), w.key)
		if err != nil {
			return err
		}
		e.AfterSeq = info.Head
		return prompt.Open(w.Context(), tx.Prompt(), info, e, tx.Now())
	})
	w.last, w.earlier = nil, nil
}

// pin pins a turn, or with a negative seq no longer.
func (w *world) pin(seq int64) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().Session(w.Context(), w.key)
		if err != nil {
			return err
		}
		rows, err := tx.Prompt().Pins(w.Context(), w.key.Tenant, info.Lineage(info.Head))
		if err != nil {
			return err
		}
		return tx.Prompt().InsertPin(w.Context(), w.key.Tenant, info.Segment, prompt.PinRow{
			Number: int64(len(rows) + 1), AfterSeq: info.Head, Seq: max(seq, -seq), Pinned: seq > 0, At: tx.Now(),
		})
	})
}

// fork goes on in a fork of the session after its turn of that seq.
func (w *world) fork(name string, at int64) {
	w.Helper()
	child := turn.SessionInfo{Key: turn.Key{Tenant: w.key.Tenant, Session: name}}
	w.update(func(tx store.Tx) error {
		parent, err := tx.Log().Session(w.Context(), w.key)
		if err != nil {
			return err
		}
		made, err := turn.Fork(w.Context(), tx.Log(), w.key, at, child, tx.Now())
		if err != nil {
			return err
		}
		if err := compress.Fork(w.Context(), tx.Compress(), parent, made.Segment, at, tx.Now()); err != nil {
			return err
		}
		return prompt.Fork(w.Context(), tx.Prompt(), w.key.Tenant, parent.Lineage(at), made.Segment, at)
	})
	w.key, w.earlier, w.last = child.Key, nil, nil
}

// differs is cmp.Diff, which takes twenty times as long to find that two prompts are the same.
func differs(want, got any, options ...cmp.Option) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, options...)
}

// textOf is a prompt as JSON, a line for each message.
func textOf(p *prompt.Prompt) string {
	var b strings.Builder
	for i := range p.Messages {
		b.Write(p.Messages[i].AppendJSON(nil))
		b.WriteByte('\n')
	}
	return b.String()
}

// said is a prompt in short: role and text of each message, tool calls by their ids.
func said(p *prompt.Prompt) []string {
	var lines []string
	for _, m := range p.Messages {
		line := string(m.Role) + ":"
		for _, part := range m.Parts {
			line += " " + part.Text
		}
		for _, c := range m.Calls {
			line += " →" + c.ID
		}
		if m.CallID != "" {
			line += " ←" + m.CallID
		}
		lines = append(lines, line)
	}
	return lines
}

// shown are the turns of a prompt in its order.
func shown(p *prompt.Prompt) []int64 {
	var seqs []int64
	for _, m := range p.Messages {
		seqs = append(seqs, m.Seqs...)
	}
	return seqs
}

func wantLines(t testing.TB, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func wantShown(t testing.TB, p *prompt.Prompt, want ...int64) {
	t.Helper()
	if got := shown(p); !slices.Equal(got, want) {
		t.Errorf("it shows %v, want %v", got, want)
	}
}

// rows are what prompts are made from, with the faults that the test wants.
func (w *world) rows(tx store.Tx) prompt.AllRows {
	return prompt.AllRows{Turns: w.faults.log(tx.Log()), Prompts: w.faults.prompts(tx.Prompt()), Checkpoints: w.faults.checkpoints(tx.Compress())}
}
