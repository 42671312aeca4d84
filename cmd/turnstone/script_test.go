package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // the driver that sql opens files with

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/llm"
)

var update = flag.Bool("update", false, "write what the scripts print into them")

func TestMain(m *testing.M) {
	testscript.Main(guarded{m}, map[string]func(){"turnstone": main})
}

// later are the longest of the scripts that only do through the program what the engine's own tests do on PostgreSQL. They
// run there in make torture.
var later = []string{
	"action", "chat", "checkpoints", "demo", "flow", "goal", "pin", "prompt", "prompt_list", "recall", "scratch", "snapshot", "undo",
}

// TestScript runs every script on every store, but for those that skip all stores but SQLite because nothing in them
// depends on it, and for what is [later]. $STORE is the store's place, and TURNSTONE_STORE too.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("starts hundreds of processes, which are slow under the race detector and have nothing to race")
	}
	t.Run("sqlite", func(t *testing.T) {
		runScripts(t, "sqlite", scripts(t), func(env *testscript.Env) string { return filepath.Join(env.WorkDir, "store.db") })
	})
	t.Run("postgres", func(t *testing.T) {
		files := scripts(t)
		for _, name := range later {
			at := slices.Index(files, script(name))
			if at < 0 {
				t.Fatalf("there is no script %s", name)
			}
			files = slices.Delete(files, at, at+1)
		}
		runOnPostgres(t, files)
	})
}

func TestTortureScript(t *testing.T) {
	if os.Getenv("TURNSTONE_TORTURE") == "" {
		t.Skip("only its long form: make torture")
	}
	var files []string
	for _, name := range later {
		files = append(files, script(name))
	}
	runOnPostgres(t, files)
}

func script(name string) string { return filepath.Join("testdata", "script", name+".txtar") }

// scripts are the files of all of them.
func scripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(script("*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts: %v", len(files), err)
	}
	return files
}

func runOnPostgres(t *testing.T, files []string) {
	t.Helper()
	pgstore.URL(t) // to skip or fail here, and not in every script
	runScripts(t, "postgres", files, func(env *testscript.Env) string { return pgstore.URL(env.T().(testing.TB)) })
}

func runScripts(t *testing.T, backend string, files []string, place func(*testscript.Env) string) {
	testscript.Run(t, testscript.Params{
		Files:               files,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			store := place(env)
			env.Values[workerKey{}] = &worker{}
			for name, value := range map[string]string{
				"STORE": store, envStore: store, "TZ": "UTC", "XDG_DATA_HOME": filepath.Join(env.WorkDir, "data"),
				"XDG_CONFIG_HOME": filepath.Join(env.WorkDir, "config"), "XDG_CACHE_HOME": filepath.Join(env.WorkDir, "cache"),
				// Most of what a process of a moment costs is getting ready for a long life on many processors.
				"GOGC": "off", "GOMAXPROCS": "1",
			} {
				env.Setenv(name, value)
			}
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == backend || cond == "root" && os.Getuid() == 0, nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "mask": mask, "lease": lease, "sql": execSQL, "capture": capture, "ollama": startOllama,
			"conversation": conversation, "picture": picture, "reported": reported, "prompts": prompts, "says": says, "talker": startTalker,
		},
	})
}

// exits runs a command and checks its exit code: exits 3 turnstone history --session nobody
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`), "ULID"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`), "INSTANT"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "YYYY-MM-DD HH:MM:SS"},
	{regexp.MustCompile(`"sha256":"[0-9a-f]{64}"`), `"sha256":"SUM"`},
	{regexp.MustCompile(`"duration_ms":\d+`), `"duration_ms":TOOK`},
}

// mask writes what the last command printed to the file out, with ids, times and sums hidden.
func mask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: mask")
	}
	text := ts.ReadFile("stdout")
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	ts.Check(os.WriteFile(ts.MkAbs("out"), []byte(text), 0o600))
}

// capture keeps a part of a file, or of what the last command printed: capture ID '"turn_id":"([^"]+)"'
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: capture variable pattern [file]")
	}
	file := append(args, "stdout")[2]
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile(file))
	if found == nil {
		ts.Fatalf("no match for %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// worker is somebody at work on a session of a script.
type worker struct {
	quit  chan struct{}
	ended chan error
}

type workerKey struct{}

// lease takes a session's lease and keeps it, as somebody at work would, and gives it back: lease demo, ! lease demo
func lease(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] lease session")
	}
	w := ts.Value(workerKey{}).(*worker)
	if neg {
		close(w.quit)
		ts.Check(<-w.ended)
		return
	}
	ctx := context.Background()
	a := &app{system: system{getenv: ts.Getenv}}
	w.quit, w.ended = make(chan struct{}), make(chan error, 1)
	held := make(chan struct{})
	go func() {
		w.ended <- a.withEngine(ctx, toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
			s, err := eng.Find(ctx, args[0])
			if err != nil {
				return err
			}
			l, err := s.Acquire(ctx)
			if err != nil {
				return err
			}
			close(held)
			<-w.quit
			return l.Release(ctx)
		})
	}()
	select {
	case <-held:
	case err := <-w.ended:
		ts.Fatalf("lease: %v", err)
	}
}

// reported tells the store what a provider counted for a session's prompt, so many tokens more than we did,
// again and again: reported demo claude 12
func reported(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: reported session model more")
	}
	ctx := context.Background()
	a := &app{system: system{getenv: ts.Getenv}}
	ts.Check(a.withSession(ctx, args[0], func(s *turnstone.Session) error {
		p, err := s.Prompt(ctx, turnstone.PromptOptions{Model: args[1], Preview: true})
		for range 20 { // until it is believed
			if err == nil {
				_, err = s.Reported(ctx, p, llm.Usage{Prompt: p.Count.Tokens + number(ts, args[2])})
			}
		}
		return err
	}))
}

// prompts compiles that many prompts of a session, no two of them the same: prompts demo 120
func prompts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: prompts session many")
	}
	ctx := context.Background()
	a := &app{system: system{getenv: ts.Getenv}}
	ts.Check(a.withSession(ctx, args[0], func(s *turnstone.Session) error {
		for n := range number(ts, args[1]) {
			if _, err := s.Prompt(ctx, turnstone.PromptOptions{Late: []string{strconv.Itoa(n)}}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// execSQL changes the store behind the program's back: sql 'UPDATE sessions SET head_seq = 7'
func execSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sql statement")
	}
	ctx := context.Background()
	a := &app{system: system{getenv: ts.Getenv}}
	p, err := a.storePlace()
	ts.Check(err)
	if p.url != "" {
		conn, err := pgx.Connect(ctx, p.url)
		ts.Check(err)
		_, err = conn.Exec(ctx, args[0])
		ts.Check(errors.Join(err, conn.Close(ctx)))
		return
	}
	db, err := sql.Open("sqlite", "file:"+p.path+"?_pragma=busy_timeout(60000)")
	ts.Check(err)
	_, err = db.ExecContext(ctx, args[0])
	ts.Check(errors.Join(err, db.Close()))
}
