package turnstone_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// secret is what is to be forgotten. Its letters in lower case are what an index would keep of it.
const secret = "ZanzibarQuux"

// secretHash is what a client's history with the secret in it is found by.
var secretHash = chain.Next(chain.Hash{}, chain.Message{Role: "user", Text: "My key is " + secret + "."})

// vault is a store and everything that it keeps, however it keeps it.
type vault struct {
	st      store.Store
	folder  string // of bundles and documents
	raw     func(t *testing.T) []byte
	engine  *turnstone.Engine
	session *turnstone.Session
	fork    *turnstone.Session
	turns   []turn.Turn // with the secret in them
}

// onEveryVault runs a test on every store with an engine that writes files.
func onEveryVault(t *testing.T, test func(t *testing.T, v *vault)) {
	onVaults(t, test, "mem", "sqlite", "postgres")
}

// onVaults is onEveryVault for some stores.
func onVaults(t *testing.T, test func(t *testing.T, v *vault), names ...string) {
	for name, fill := range map[string]func(t *testing.T, v *vault){
		"mem": func(t *testing.T, v *vault) {
			v.st = mem.New(mem.Config{})
			v.raw = func(*testing.T) []byte { return nil }
		},
		"sqlite": func(t *testing.T, v *vault) {
			path := litetest.File(t, filepath.Join(t.TempDir(), "log.db"))
			st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
			if err != nil {
				t.Fatal(err)
			}
			v.st = st
			v.raw = func(t *testing.T) []byte { return filesIn(t, filepath.Dir(path)) }
			// Closing the engine stores what was left of traces.
			t.Cleanup(func() {
				for _, leak := range leaks(v.raw(t)) {
					t.Error("after closing: " + leak)
				}
			})
		},
		"postgres": func(t *testing.T, v *vault) {
			url := pgstore.URL(t)
			st, err := postgres.Open(t.Context(), url, postgres.Config{})
			if err != nil {
				t.Fatal(err)
			}
			v.st = st
			v.raw = func(t *testing.T) []byte { return tablesOf(t, url) }
		},
	} {
		if !slices.Contains(names, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			v := &vault{folder: t.TempDir()}
			fill(t, v)
			v.engine = open(t, v.st, turnstone.Config{BundleDir: filepath.Join(v.folder, "b"), SessionsDir: filepath.Join(v.folder, "s")})
			test(t, v)
		})
	}
}

// filesIn is what all files of a folder hold, what is packed unpacked too.
func filesIn(t *testing.T, folder string) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all = append(append(all, d.Name()...), data...)
		if bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			unpacker, err := zstd.NewReader(nil)
			if err != nil {
				return err
			}
			defer unpacker.Close()
			whole, err := unpacker.DecodeAll(data, nil)
			if err != nil {
				return err
			}
			all = append(all, whole...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tablesOf is every row of every table of a database.
func tablesOf(t *testing.T, url string) []byte {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	texts := func(sql string) []string {
		rows, err := conn.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	var all []byte
	for _, table := range texts(`SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()`) {
		for _, row := range texts(`SELECT t::text FROM ` + table + ` t`) {
			all = append(append(all, row...), '\n')
		}
	}
	return all
}

// kept is everything that is kept anywhere.
func (v *vault) kept(t *testing.T) []byte {
	t.Helper()
	all := v.raw(t)
	err := v.st.Dump(t.Context(), func(row store.Row) error {
		for _, value := range row.Values {
			if data, ok := value.([]byte); ok {
				all = append(all, data...)
			}
		}
		all = fmt.Appendf(all, "%s %v\n", row.Table, row.Values)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{v.session.ID(), v.fork.ID()} {
		light, ok, err := v.st.Light().Retrieve(t.Context(), dialogue.LightKey{Tenant: turn.DefaultTenant, Session: key})
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			all = append(all, *light.LastUserMessage...)
		}
	}
	return append(all, filesIn(t, v.folder)...)
}

// leaks returns the forms in which the secret stands in data, each with what is around it.
func leaks(data []byte) (found []string) {
	forms := map[string]string{
		"plain": secret, "lower case": strings.ToLower(secret), "hex": hex.EncodeToString([]byte(secret)),
		"escaped": `\u005aanzibarQuux`, "upper": strings.ToUpper(secret), "hash": hex.EncodeToString(secretHash[:]),
	}
	for shift := range 3 {
		// What stands before it decides how it is written; its inner letters are always there.
		coded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret + "xxx"))
		forms[fmt.Sprintf("base64 shifted by %d", shift)] = coded[4 : len(coded)-4]
	}
	for name, form := range forms {
		for rest, at := data, 0; ; {
			i := bytes.Index(rest, []byte(form))
			if i < 0 {
				break
			}
			found = append(found, fmt.Sprintf("%s at %d: %q", name, at+i, rest[max(0, i-120):min(len(rest), i+60)]))
			rest, at = rest[i+1:], at+i+1
		}
	}
	return found
}

// plant puts the secret wherever one can be.
func (v *vault) plant(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	var err error
	v.session, err = v.engine.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: "home"}, User: "u", Title: "About " + secret, Model: "gpt-4o"})
	if err != nil {
		t.Fatal(err)
	}
	s := v.session
	say(t, s, turn.User, "Hello there, what is on today?")
	say(t, s, turn.Agent, "The harbour plan, as yesterday.")
	goal, step, why := "Keep "+secret+" safe", "Hide "+secret, "since "+secret
	note, kind := "saw "+secret, "alert"
	_, err = s.Commit(ctx, commit.Exchange{
		Turns: []turn.Draft{
			{Role: turn.User, Content: turn.Text{Text: "My key is " + secret + "."}, IdempotencyKey: "k-" + secret, Meta: turn.Meta{Model: secret}},
			{Role: turn.Agent, Content: turn.Text{Text: "Noted " + secret, Thinking: "hm, " + secret, ToolCalls: []turn.ToolCall{{ID: "c1", Name: "keep", Arguments: `{"it":"` + secret + `"}`}}}},
			{Role: turn.System, Content: turn.Result{Name: "keep", CallID: "c1", Status: turn.CallOK, Result: `"\u005aanzibarQuux"`}},
			{Role: turn.User, Content: turn.Image{MediaType: "image/png", Alt: secret + " on paper", Blob: turn.Blob{Data: []byte("png " + secret)}}},
			{Role: turn.User, Content: turn.Speech{Transcript: "I said " + secret, Audio: &turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{Data: []byte("ogg " + secret)}}}},
			{Role: turn.User, Content: turn.Action{Name: "paste", Target: secret, Payload: `{"x":"` + secret + `"}`}},
			{Role: turn.Agent, Content: turn.Text{Text: "Decided: " + secret + " stays where it is."}},
		},
		Candidates: []memory.Candidate{{Type: memory.UserData, Text: "the key is " + secret, Source: memory.FromUser, Data: `{"key":"` + secret + `"}`, Tags: []string{secret}}},
		Intentions: cortex.Changes{Goals: []cortex.GoalChange{{
			ID: "g", Title: &goal, Why: why, AddMilestones: []cortex.Milestone{{Description: step}, {Description: step + " again"}},
			AddDecisions: []cortex.Decision{{Description: secret + " it is", Rationale: why, Locked: true}},
		}}},
		Scratch: scratch.Changes{Put: []scratch.Change{{ID: "o", Type: &kind, Content: &note}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	v.turns = v.secrets(t)
	if err := v.engine.Publish(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = s.Believe(ctx, func(state *dialogue.State) error {
		if _, _, err := state.StackOn("f", "keep", dialogue.Options{}); err != nil {
			return err
		}
		return errors.Join(
			state.DeclareSlot("key", dialogue.TypeString), state.SetSlot("key", dialogue.Value(`"`+secret+`"`), v.turns[0].ID),
			state.DeclareSlot("told", dialogue.TypeString), state.SetSlot("told", `"harbour"`, v.turns[0].ID),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o", Context: 8192, Late: []string{"Recalled: " + secret}})
	snap(t, s, "before "+secret)
	if v.fork, err = s.Fork(ctx, turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: "fork"}}); err != nil {
		t.Fatal(err)
	}
	for n := range 24 {
		converse(t, s, n)
	}
	p := compiled(t, s, small)
	if len(p.Checkpoints) == 0 {
		t.Fatal("there is no checkpoint")
	}
	compiled(t, v.fork, small)
	for _, one := range []*turnstone.Session{s, v.fork} {
		err = v.st.Light().Store(ctx, dialogue.LightKey{Tenant: turn.DefaultTenant, Session: one.ID()}, dialogue.LightContext{LastUserMessage: text("My key is " + secret)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := one.End(ctx); err != nil {
			t.Fatal(err)
		}
	}
	v.plantRows(t)
}

func text(s string) *string { return &s }

// secrets are the turns that hold the secret.
func (v *vault) secrets(t *testing.T) (turns []turn.Turn) {
	t.Helper()
	page, err := v.session.Query(t.Context(), turn.Query{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range page.Turns {
		content := strings.ReplaceAll(string(turn.AppendContent(nil, found.Content)), `\u005a`, "Z")
		_, image := found.Content.(turn.Image)
		if found.Kind == turn.KindTurn && (strings.Contains(content, secret) || image) {
			turns = append(turns, found)
		}
	}
	return turns
}

// plantRows writes rows that only trouble writes.
func (v *vault) plantRows(t *testing.T) {
	t.Helper()
	err := v.st.Update(t.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: "home"})
		if err != nil {
			return err
		}
		exports, err := tx.Outbox().ExportsOf(t.Context(), turn.DefaultTenant, v.turns[0].ID)
		if err != nil || len(exports) != 1 {
			return fmt.Errorf("%d exports: %w", len(exports), err)
		}
		e := exports[0]
		key, out := info.Key, tx.Outbox()
		return errors.Join(
			tx.Log().PutExchange(t.Context(), key, turn.OpenExchange{
				ExportID: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Opened: v.turns[0].ID, Reply: "01JZZZZZZZZZZZZZZZZZZZZZZY", Content: `{"text":"It is ` + secret + `"}`, Started: tx.Now(), Changed: tx.Now(),
			}),
			tx.Chains().PutLink(t.Context(), chain.Link{Tenant: key.Tenant, Hash: secretHash, Session: key.Session, Seq: v.turns[0].Seq, At: tx.Now()}),
			out.PutDeferral(t.Context(), event.Deferral{
				Tenant: key.Tenant, Session: key.Session, ExportID: e.ID, Target: "memory", Payload: `{"text":"` + secret + `"}`, Error: secret, At: tx.Now(), Next: tx.Now().Add(1 << 50), Escalated: tx.Now(),
			}),
			out.InsertEvent(t.Context(), event.Event{ID: "01JZZZZZZZZZZZZZZZZZZZZZZX", Tenant: key.Tenant, Session: key.Session, Kind: event.CompressionError, Data: `{"error":"` + secret + `"}`, At: tx.Now()}),
			out.InsertLetter(t.Context(), event.Letter{Tenant: key.Tenant, Daemon: "d", ExportID: e.ID, Session: key.Session, TurnID: e.TurnID, Error: "cannot take " + secret, At: tx.Now()}),
			tx.Trace().InsertParts(t.Context(), key.Tenant, trace.Part{TurnID: e.TurnID, Segment: info.Segment, ID: "01JZZZZZZZZZZZZZZZZZZZZZZW", At: tx.Now(), Body: `{"entries":[{"text":"` + secret + `"}]}`}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func seqsOfTurns(turns []turn.Turn) (seqs []int64) {
	for _, t := range turns {
		seqs = append(seqs, t.Seq)
	}
	return seqs
}

// TestForgottenTurnsAreNowhere plants a secret wherever one can be, forgets the turns that said it, and looks at every byte
// that is kept.
func TestForgottenTurnsAreNowhere(t *testing.T) {
	onEveryVault(t, func(t *testing.T, v *vault) {
		v.plant(t)
		if len(leaks(v.kept(t))) < 20 {
			t.Fatalf("the secret was not planted well: %v", leaks(v.kept(t)))
		}
		target := turnstone.Target{Seqs: seqsOfTurns(v.turns)[:3], Preview: true}
		for _, t := range v.turns[3:] {
			target.TurnIDs = append(target.TurnIDs, t.ID)
		}
		before := contents(t, v.st)
		preview, err := v.session.Forget(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if contents(t, v.st) != before {
			t.Error("a preview changed something")
		}
		target.Preview = false
		receipt, err := v.session.Forget(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("receipt: %+v", receipt)
		for _, leak := range leaks(v.kept(t)) {
			t.Error(leak)
		}
		if !slices.Equal(receipt.Sessions, []string{"home", "fork"}) {
			t.Errorf("it reached %v", receipt.Sessions)
		}
		if !slices.Equal(preview.Removed, receipt.Removed) || preview.Turns != receipt.Turns || !preview.Preview {
			t.Errorf("a preview of %+v, then %+v", preview, receipt)
		}
		healthy(t, v.st)
		v.goOn(t)
		again, err := v.session.Forget(t.Context(), target)
		if err != nil || again.Turns != 0 {
			t.Errorf("forgotten again: %+v, %v", again, err)
		}
	})
}

// goOn does with the session what people do: what is left of it works.
func (v *vault) goOn(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	messages, _, err := v.engine.Published(ctx, 0, 10)
	if err != nil || len(messages) != 1 || !strings.Contains(string(messages[0].Body), `"missing":["turn 3"`) {
		t.Errorf("what daemons are told: %+v, %v", messages, err)
	}
	p := compiled(t, v.session, small)
	if text := textOf(p); len(p.Checkpoints) == 0 || len(leaks([]byte(text))) > 0 || !strings.Contains(text, turn.ForgottenText) {
		t.Errorf("%d checkpoints in %s", len(p.Checkpoints), text)
	}
	snapshots, err := v.session.Snapshots(ctx, "", 10)
	if err != nil || len(snapshots) == 0 {
		t.Fatalf("%d snapshots, %v", len(snapshots), err)
	}
	if _, err := v.session.Undo(ctx, 0, turnstone.PromptOptions{Model: "gpt-4o", Context: 32768}); err != nil {
		t.Errorf("undo: %v", err)
	}
	for _, taken := range snapshots {
		if _, err := v.session.Restore(ctx, taken.ID, small); err != nil {
			t.Errorf("restore: %v", err)
		}
		if text := textOf(compiled(t, v.session, small)); len(leaks([]byte(text))) > 0 {
			t.Errorf("a snapshot brought it back: %s", text)
		}
	}
	for _, leak := range leaks(v.kept(t)) {
		t.Error("gone on: " + leak)
	}
	healthy(t, v.st)
}
