package dialogue_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
	"weak"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// clock is a time that stands until it is moved.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return noon.Add(time.Duration(c.nanos.Load())) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

func key(session string) dialogue.LightKey {
	return dialogue.LightKey{Tenant: tenant, Session: session}
}

func taskCreated() dialogue.LightContext {
	return dialogue.LightContext{
		LastIntent:      new("task_creation"),
		LastTaskID:      new("123"),
		PendingFields:   []string{"due", "owner"},
		LastUserMessage: new("Create a new task for refactoring"),
	}
}

func wantLight(t *testing.T, l dialogue.LightStore, k dialogue.LightKey, want *dialogue.LightContext) {
	t.Helper()
	got, ok, err := l.Retrieve(t.Context(), k)
	must(t, err)
	if ok != (want != nil) {
		t.Errorf("%v: found is %v", k, ok)
	} else if ok {
		if diff := cmp.Diff(*want, got); diff != "" {
			t.Errorf("%v: %s", k, diff)
		}
	}
}

func TestLightKeepsWhatItWasGiven(t *testing.T) {
	contexts := []dialogue.LightContext{
		taskCreated(),
		{LastIntent: new(""), PendingFields: []string{}, LastUserMessage: new("")},
		{LastTaskID: new("7"), PendingFields: []string{""}},
		{PendingFields: []string{}},
	}
	l := dialogue.NewLight(0, nil)
	for i, c := range contexts {
		must(t, l.Store(t.Context(), key("s"), c))
		wantLight(t, l, key("s"), &contexts[i])
	}
	must(t, l.Store(t.Context(), key("s"), dialogue.LightContext{}))
	wantLight(t, l, key("s"), &dialogue.LightContext{PendingFields: []string{}})
	must(t, l.Clear(t.Context(), key("s")))
	wantLight(t, l, key("s"), nil)
	must(t, l.Clear(t.Context(), key("s")))
}

func TestLightTellsSessionsAndTenantsApart(t *testing.T) {
	l := dialogue.NewLight(0, nil)
	c := taskCreated()
	must(t, l.Store(t.Context(), key("s"), c))
	wantLight(t, l, key("other"), nil)
	wantLight(t, l, dialogue.LightKey{Tenant: "other", Session: "s"}, nil)
	must(t, l.Clear(t.Context(), dialogue.LightKey{Tenant: "other", Session: "s"}))
	wantLight(t, l, key("s"), &c)
}

func TestLightSharesNoMemory(t *testing.T) {
	l := dialogue.NewLight(0, nil)
	given, want := taskCreated(), taskCreated()
	must(t, l.Store(t.Context(), key("s"), given))
	spoil := func(c dialogue.LightContext) {
		*c.LastIntent, *c.LastTaskID, *c.LastUserMessage, c.PendingFields[0] = "x", "x", "x", "x"
	}
	spoil(given)
	wantLight(t, l, key("s"), &want)
	got, _, err := l.Retrieve(t.Context(), key("s"))
	must(t, err)
	spoil(got)
	wantLight(t, l, key("s"), &want)
	held, _, err := l.Retrieve(t.Context(), key("s"))
	must(t, err)
	must(t, l.Store(t.Context(), key("s"), dialogue.LightContext{LastIntent: new("y"), PendingFields: []string{"y"}}))
	if diff := cmp.Diff(want, held); diff != "" {
		t.Errorf("the next store changed what was handed out: %s", diff)
	}
}

func TestLightRefusesAKeyWithoutNames(t *testing.T) {
	l := dialogue.NewLight(0, nil)
	for want, k := range map[string]dialogue.LightKey{
		"session: is empty; use 1 to 128 letters, digits and . _ : -": {Tenant: tenant},
		"tenant: is empty; use 1 to 128 letters, digits and . _ : -":  {Session: "s"},
	} {
		_, _, retrieve := l.Retrieve(t.Context(), k)
		for op, err := range map[string]error{
			"store": l.Store(t.Context(), k, taskCreated()), "retrieve": retrieve, "clear": l.Clear(t.Context(), k),
		} {
			if err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", op, err, want)
			}
		}
	}
	if l.Len() != 0 {
		t.Error("something was stored")
	}
}

func TestLightForgetsAfterTheTimeout(t *testing.T) {
	var c clock
	l := dialogue.NewLight(time.Minute, c.now)
	want := taskCreated()
	must(t, l.Store(t.Context(), key("s"), want))
	c.advance(time.Minute - 1)
	wantLight(t, l, key("s"), &want)
	must(t, l.Store(t.Context(), key("s"), want))
	c.advance(time.Minute - 1)
	wantLight(t, l, key("s"), &want)
	c.advance(1)
	wantLight(t, l, key("s"), nil)
	if l.Len() != 0 {
		t.Error("it is still held")
	}
}

// What nobody met yet is gone when its time is over all the same.
func TestLightForgetsBeforeItSweeps(t *testing.T) {
	var c clock
	l := dialogue.NewLight(time.Minute, c.now)
	const sessions = 1000
	for i := range sessions {
		must(t, l.Store(t.Context(), key(fmt.Sprint(i)), taskCreated()))
	}
	c.advance(time.Minute)
	wantLight(t, l, key(fmt.Sprint(sessions-1)), nil)
	must(t, l.Hear(key(fmt.Sprint(sessions-2)), "it"))
	wantLight(t, l, key(fmt.Sprint(sessions-2)), &dialogue.LightContext{PendingFields: []string{}, LastUserMessage: new("it")})
}

func TestLightTimeoutDefaultsToHalfAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := dialogue.NewLight(-1, nil)
		want := taskCreated()
		must(t, l.Store(t.Context(), key("s"), want))
		<-time.After(30*time.Minute - 1)
		wantLight(t, l, key("s"), &want)
		<-time.After(1)
		wantLight(t, l, key("s"), nil)
	})
}

func TestLightDoesNotGrowForEver(t *testing.T) {
	var c clock
	l := dialogue.NewLight(time.Minute, c.now)
	const perMinute = 1000
	most := 0
	for i := range 20 * perMinute {
		must(t, l.Store(t.Context(), key(fmt.Sprint("s", i)), taskCreated()))
		c.advance(time.Minute / perMinute)
		if i%perMinute == 0 {
			most = max(most, l.Len())
		}
	}
	// Shards are met at random, so that some entries outlive their time a little.
	if most > perMinute*3/2 {
		t.Errorf("%d contexts were held, %d are stored within the timeout", most, perMinute)
	}
	c.advance(time.Hour)
	for i := range perMinute * 2 {
		wantLight(t, l, key(fmt.Sprint("nobody", i)), nil)
	}
	if l.Len() != 0 {
		t.Errorf("%d contexts are left after reads alone", l.Len())
	}
}

func TestLightHoldsManySessions(t *testing.T) {
	l := dialogue.NewLight(0, nil)
	const sessions = 500
	for i := range sessions {
		must(t, l.Store(t.Context(), key(fmt.Sprint(i)), dialogue.LightContext{LastTaskID: new(fmt.Sprint(i))}))
	}
	if l.Len() != sessions {
		t.Errorf("%d of %d contexts are held", l.Len(), sessions)
	}
	for i := range sessions {
		wantLight(t, l, key(fmt.Sprint(i)), &dialogue.LightContext{LastTaskID: new(fmt.Sprint(i)), PendingFields: []string{}})
	}
}

// storeThenReplace stores pieces of a large text for a session and then something small, and returns
// what tells whether the text is still held.
func storeThenReplace(t *testing.T, l *dialogue.Light) weak.Pointer[byte] {
	text := strings.Repeat("x", 1<<16)
	must(t, l.Store(t.Context(), key(text[:1]), dialogue.LightContext{LastIntent: &text, PendingFields: []string{"a", text}}))
	must(t, l.Store(t.Context(), key("x"), dialogue.LightContext{PendingFields: []string{"a"}}))
	return weak.Make(unsafe.StringData(text))
}

func TestLightKeepsNothingOldAlive(t *testing.T) {
	l := dialogue.NewLight(0, nil)
	text := storeThenReplace(t, l)
	runtime.GC()
	if text.Value() != nil {
		t.Error("what was replaced is still held")
	}
	wantLight(t, l, key("x"), &dialogue.LightContext{PendingFields: []string{"a"}})
}

func TestLightAllocatesLittle(t *testing.T) {
	l := dialogue.NewLight(0, nil)
	c, ctx := taskCreated(), t.Context()
	if n := testing.AllocsPerRun(100, func() { must(t, l.Store(ctx, key("s"), c)) }); n != 0 {
		t.Errorf("storing again allocates %v times", n)
	}
	retrieve := func() {
		if _, ok, err := l.Retrieve(ctx, key("s")); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if n := testing.AllocsPerRun(100, retrieve); n > 2 {
		t.Errorf("retrieving allocates %v times", n)
	}
}

// TestLightBehavesLikeAMap holds it against the plainest thing that could work. Tenants of one session
// share a lock and with it the order in which entries expire.
func TestLightBehavesLikeAMap(t *testing.T) {
	const timeout = 10 * time.Second
	type kept struct {
		c       dialogue.LightContext
		expires time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		var clock clock
		l := dialogue.NewLight(timeout, clock.now)
		model := map[dialogue.LightKey]kept{}
		ctx := t.Context()
		drawKey := func(t *rapid.T) dialogue.LightKey {
			return dialogue.LightKey{Tenant: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "tenant")), Session: "s"}
		}
		text := rapid.Ptr(rapid.String(), true)
		t.Repeat(map[string]func(*rapid.T){
			"store": func(t *rapid.T) {
				k := drawKey(t)
				c := dialogue.LightContext{
					LastIntent: text.Draw(t, "intent"), LastTaskID: text.Draw(t, "task"), LastUserMessage: text.Draw(t, "message"),
					PendingFields: append([]string{}, rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "fields")...),
				}
				if err := l.Store(ctx, k, c); err != nil {
					t.Fatal(err)
				}
				model[k] = kept{c, clock.now().Add(timeout)}
			},
			"retrieve": func(t *rapid.T) {
				k := drawKey(t)
				want, ok := model[k]
				ok = ok && clock.now().Before(want.expires)
				got, found, err := l.Retrieve(ctx, k)
				if err != nil || found != ok || ok && !cmp.Equal(got, want.c) {
					t.Fatalf("%v: got %v, %v, %v; want %v, %v", k, got, found, err, want.c, ok)
				}
			},
			"clear": func(t *rapid.T) {
				k := drawKey(t)
				if err := l.Clear(ctx, k); err != nil {
					t.Fatal(err)
				}
				delete(model, k)
			},
			"wait": func(t *rapid.T) { clock.advance(time.Duration(rapid.IntRange(0, 4).Draw(t, "seconds")) * time.Second) },
			"": func(t *rapid.T) {
				live := 0
				for _, want := range model {
					if clock.now().Before(want.expires) {
						live++
					}
				}
				if held := l.Len(); held < live || held > len(model) {
					t.Fatalf("%d contexts are held, %d live, %d were stored", held, live, len(model))
				}
			},
		})
		// Whatever the order of all this was, two entries go with each operation.
		clock.advance(timeout)
		for l.Len() > 0 {
			held := l.Len()
			if err := l.Clear(ctx, dialogue.LightKey{Tenant: "nobody", Session: "s"}); err != nil {
				t.Fatal(err)
			}
			if left := l.Len(); left != max(held-2, 0) {
				t.Fatalf("of %d expired contexts %d are left", held, left)
			}
		}
	})
}

func TestLightIsSafeForConcurrentUse(t *testing.T) {
	var c clock
	l := dialogue.NewLight(50, c.now)
	ctx := t.Context()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 500 {
				k := key(fmt.Sprint((worker + i) % 100))
				id := fmt.Sprint(i)
				if err := l.Store(ctx, k, dialogue.LightContext{LastIntent: &id, LastTaskID: &id, PendingFields: []string{id, id}}); err != nil {
					t.Error(err)
				}
				got, ok, err := l.Retrieve(ctx, k)
				if err != nil || ok && (*got.LastIntent != *got.LastTaskID || got.PendingFields[0] != *got.LastIntent || len(got.PendingFields) != 2) {
					t.Errorf("got %v, %v, %v", got, ok, err)
				}
				c.advance(1)
				if i%7 == 0 {
					if err := l.Clear(ctx, k); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

func benchLight(b *testing.B, op func(l *dialogue.Light, k dialogue.LightKey)) {
	l := dialogue.NewLight(0, nil)
	keys := make([]dialogue.LightKey, 1<<12)
	for i := range keys {
		keys[i] = key(fmt.Sprintf("01JQ%022d", i))
		must(b, l.Store(b.Context(), keys[i], taskCreated()))
	}
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			op(l, keys[i%len(keys)])
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				op(l, keys[i%len(keys)])
			}
		})
	})
}

func BenchmarkLightStore(b *testing.B) {
	c := taskCreated()
	benchLight(b, func(l *dialogue.Light, k dialogue.LightKey) { must(b, l.Store(b.Context(), k, c)) })
}

func BenchmarkLightRetrieve(b *testing.B) {
	benchLight(b, func(l *dialogue.Light, k dialogue.LightKey) {
		if c, ok, err := l.Retrieve(b.Context(), k); err != nil || !ok || len(c.PendingFields) != 2 {
			b.Fatal(c, ok, err)
		}
	})
}

// What is heard changes one field, and nothing of it comes back whose time was over.
func TestLightHears(t *testing.T) {
	now := time.Date(2026, 1, 27, 10, 0, 0, 0, time.UTC)
	l := dialogue.NewLight(time.Minute, func() time.Time { return now })
	k := dialogue.LightKey{Tenant: "default", Session: "s"}
	if err := l.Store(t.Context(), k, dialogue.LightContext{LastIntent: new("add"), LastTaskID: new("7"), PendingFields: []string{"due"}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		later time.Duration
		want  dialogue.LightContext
	}{
		{59 * time.Second, dialogue.LightContext{LastIntent: new("add"), LastTaskID: new("7"), PendingFields: []string{"due"}, LastUserMessage: new("it")}},
		{time.Minute, dialogue.LightContext{PendingFields: []string{}, LastUserMessage: new("it")}},
	} {
		now = now.Add(c.later)
		if err := l.Hear(k, "it"); err != nil {
			t.Fatal(err)
		}
		got, ok, err := l.Retrieve(t.Context(), k)
		if diff := cmp.Diff(c.want, got); diff != "" || !ok || err != nil {
			t.Errorf("%v, %v\n%s", ok, err, diff)
		}
	}
	if l.Hear(dialogue.LightKey{}, "it") == nil {
		t.Error("nobody's is kept")
	}
}
