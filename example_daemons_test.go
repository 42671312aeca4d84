package turnstone_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/inproc"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// A daemon is known by its name and goes on where it stopped, also in another process.
func ExampleEngine_Subscribe() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	heard := make(chan string)
	daemon := must(eng.Subscribe(ctx, "indexer", func(_ context.Context, m event.Message) (int, error) {
		export, err := commit.DecodeExport(string(m.Body))
		if err != nil {
			return 0, bus.Reject(err) // it will not get better
		}
		heard <- export.Turn.UserInput
		return 1, nil
	}, bus.Options{}))

	must(must(eng.Session(ctx, "alice")).Commit(ctx, exchanged("I moved to Oslo.", "Noted.")))
	fmt.Println(<-heard)
	check(daemon.Close())
	marks, last, err := eng.Daemons(ctx)
	fmt.Println(marks[0].Daemon, "has handled", marks[0].Through, "of", last, err)
	// Output:
	// I moved to Oslo.
	// indexer has handled 1 of 1 <nil>
}

// What a daemon cannot handle becomes a dead letter, and the session goes on.
func ExampleEngine_DeadLetters() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	mailed := make(chan string)
	daemon := must(eng.Subscribe(ctx, "mailer", func(_ context.Context, m event.Message) (int, error) {
		asked := must(commit.DecodeExport(string(m.Body))).Turn.UserInput
		if asked == "Mail it to Bob." {
			return 0, bus.Reject(errors.New("Bob has no address"))
		}
		mailed <- asked
		return 1, nil
	}, bus.Options{}))
	must(chat.Commit(ctx, exchanged("Mail it to Bob.", "I will.")))
	must(chat.Commit(ctx, exchanged("Mail it to Ann.", "Her too.")))
	fmt.Println(<-mailed)
	check(daemon.Close())
	for _, letter := range must(eng.DeadLetters(ctx, "mailer", 10)) {
		fmt.Println(letter.Session, letter.Tries, letter.Error)
	}
	fmt.Println(len(must(eng.Deferrals(ctx))), "targets of commits wait to be written,", must(eng.CountDeferrals(ctx)), "of all tenants")
	// Output:
	// Mail it to Ann.
	// alice 1 Bob has no address
	// 0 targets of commits wait to be written, 0 of all tenants
}

// Those who only look on read what was published, from any number on.
func ExampleEngine_Published() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	for _, id := range []string{"alice", "bob"} {
		must(must(eng.Session(ctx, id)).Commit(ctx, exchanged("Hello.", "Hello!")))
		check(eng.Publish(ctx)) // it would be done soon
	}
	for after := int64(0); ; {
		page, through, err := eng.Published(ctx, after, 1)
		check(err)
		if through == after {
			break
		}
		fmt.Println(page[0].Number, page[0].Session)
		after = through
	}
	// Output:
	// 1 alice
	// 2 bob
}

// A tenant reads its own, from anywhere on.
func ExampleEngine_PublishedAfter() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	for _, id := range []string{"alice", "bob"} {
		must(must(eng.Session(ctx, id)).Commit(ctx, exchanged("Hello.", "Hello!")))
		check(eng.Publish(ctx)) // it would be done soon
	}
	for after := ""; ; {
		page, through, err := eng.PublishedAfter(ctx, after, 1)
		check(err)
		if through == after {
			break
		}
		fmt.Println(page[0].Session)
		after = through
	}
	// Output:
	// alice
	// bob
}

// What is announced is stored, and told to those who listen.
func ExampleEngine_Events() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	told := make(chan event.Event, 2)
	stop := eng.Listen(func(e event.Event) { told <- e })
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "Rewrite the parser.")
	must(chat.Snapshot(ctx, "before the parser"))
	must(chat.End(ctx))
	fmt.Println((<-told).Kind, (<-told).Kind)
	stop()

	first := must(eng.Events(ctx, "alice", "", 1))
	rest := must(eng.Events(ctx, "alice", first[0].Cursor(), 10))
	fmt.Println(first[0].Kind, rest[0].Kind)
	fmt.Println("behind all:", len(must(eng.Events(ctx, "", must(eng.LastEvent(ctx)), 10))))
	// Output:
	// snapshot-created session-ended
	// snapshot-created session-ended
	// behind all: 0
}

// The bus between the engine and its daemons can be another one, such as bus/natsbus.
func ExampleNewBus() {
	ctx := context.Background()
	st := mem.New(mem.Config{})
	connect := turnstone.NewBus(func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error) {
		return inproc.New(st, bodies, recorder, inproc.Config{}), nil
	})
	eng := must(turnstone.Open(ctx, st, turnstone.Config{Bus: connect}))
	defer eng.Close()
	heard := make(chan string, 1)
	must(eng.Subscribe(ctx, "indexer", func(_ context.Context, m event.Message) (int, error) {
		heard <- m.Session
		return 1, nil
	}, bus.Options{}))
	must(must(eng.Session(ctx, "alice")).Commit(ctx, exchanged("Hello.", "Hello!")))
	fmt.Println(<-heard)
	// The store keeps whose the exports are; this bus is inside the process, which has no name.
	name, waiting, err := eng.Publisher(ctx)
	check(err)
	fmt.Printf("%q %d", name, waiting)
	// Output:
	// alice
	// "" 0
}

func ExampleStateExportSchema() {
	var schema struct {
		Title    string
		Required []string
	}
	check(json.Unmarshal([]byte(turnstone.StateExportSchema()), &schema))
	fmt.Println(schema.Title, schema.Required[:3])
	// Output: StateExport [schema_version export_id turn_id]
}

func ExampleEngine_Sweep() {
	ctx := context.Background()
	var days atomic.Int64
	clock := func() time.Time { return time.Unix(0, 0).AddDate(0, 0, int(days.Load())) }
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{Clock: clock}), turnstone.Config{Clock: clock}))
	defer eng.Close()
	must(must(eng.Session(ctx, "alice")).Commit(ctx, exchanged("I moved to Oslo.", "Noted.")))
	check(eng.Publish(ctx))
	days.Add(100)
	swept := must(eng.Sweep(ctx))
	fmt.Println(swept.Exports, "export,", swept.TraceParts > 0)
	fmt.Println("nothing again:", must(eng.Sweep(ctx)) == turnstone.Swept{})
	// Output:
	// 1 export, true
	// nothing again: true
}
