package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func ExampleEngine_Session() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice")) // made, since there is none
	check(chat.Describe(ctx, turn.SessionInfo{Title: "Autumn orders", Model: "llama3.2"}))

	same := must(eng.Session(ctx, "alice"))
	info := must(same.Info(ctx))
	fmt.Println(same.ID(), info.Status, info.Title, info.Model)
	// Output: alice active Autumn orders llama3.2
}

// Who appends need not look first whether there is such a session.
func ExampleEngine_Named() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Named("alice"))
	_, err := chat.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello"}})
	fmt.Println(err)
	// Output: session alice: not found
}

// Several programs describe a session, and none writes over what it has not seen.
func ExampleSession_DescribeIf() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	untitled := func(now turn.SessionInfo) error {
		if now.Title != "" {
			return fmt.Errorf("it is called %s by now", now.Title)
		}
		return nil
	}
	fmt.Println(chat.DescribeIf(ctx, turn.SessionInfo{Title: "Parser"}, untitled))
	fmt.Println(chat.DescribeIf(ctx, turn.SessionInfo{Title: "Lexer"}, untitled))
	// Output:
	// <nil>
	// it is called Parser by now
}

func ExampleEngine_Create() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Create(ctx, turn.SessionInfo{User: "alice", Title: "Parser"}))
	_, err := eng.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: chat.ID()}})
	fmt.Println(len(chat.ID()), errors.Is(err, turn.ErrExists))
	// Output: 26 true
}

func ExampleEngine_Sessions() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	for _, id := range []string{"monday", "tuesday", "wednesday"} {
		must(eng.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: id}, User: "alice"}))
	}
	page := must(eng.Sessions(ctx, turn.SessionFilter{User: "alice", Limit: 2}))
	for _, s := range page {
		fmt.Println(s.Session)
	}
	rest := must(eng.Sessions(ctx, turn.SessionFilter{User: "alice", Limit: 2, Before: page[1].Segment}))
	fmt.Println("and", rest[0].Session)
	// Output:
	// wednesday
	// tuesday
	// and monday
}

// Tenants share a store and see nothing of each other.
func ExampleEngine_ForTenant() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	acme := must(eng.ForTenant("acme"))
	must(acme.Session(ctx, "board"))
	_, err := eng.Find(ctx, "board")
	fmt.Println(errors.Is(err, turnstone.ErrNotFound), len(must(acme.Sessions(ctx, turn.SessionFilter{}))))
	fmt.Println(must(eng.Tenants(ctx)))
	// Output:
	// true 1
	// [acme]
}

func ExampleEngine_Tenant() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	fmt.Println(eng.Tenant(), must(eng.ForTenant("acme")).Tenant())
	// Output: default acme
}

// A session that ends leaves a bundle, which can be played again, and a document that other programs read.
func ExampleSession_End() {
	ctx := context.Background()
	folder := must(os.MkdirTemp("", "turnstone"))
	defer os.RemoveAll(folder)
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{
		BundleDir: filepath.Join(folder, "bundles"), SessionsDir: filepath.Join(folder, "sessions"),
	}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "That was all.", "Until next time.")

	bundle := must(chat.End(ctx))
	fmt.Println(bundle == chat.BundlePath(), must(os.Stat(bundle)).Size() > 0, must(os.Stat(chat.DocumentPath())).Size() > 0)
	fmt.Println(must(chat.Info(ctx)).Status)
	talk(chat, "One more thing.")
	fmt.Println(must(chat.Info(ctx)).Status)
	// Output:
	// true true true
	// ended
	// active
}

func ExampleEngine_EndIdle() {
	ctx := context.Background()
	var minutes atomic.Int64
	clock := func() time.Time { return time.Unix(60*minutes.Load(), 0) }
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{Clock: clock}), turnstone.Config{Clock: clock, IdleAfter: time.Hour}))
	defer eng.Close()
	talk(must(eng.Session(ctx, "early")), "Good morning.")
	minutes.Add(50)
	talk(must(eng.Session(ctx, "late")), "Hello.")
	minutes.Add(10)
	fmt.Println(must(eng.EndIdle(ctx)))
	// Output: [early]
}
