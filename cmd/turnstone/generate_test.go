package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/turn"
)

// conversation writes a long conversation, a message a line, with one line that is broken if that is not 0:
// conversation long.jsonl 45000 40000
func conversation(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: conversation file lines broken")
	}
	var text strings.Builder
	for n := 1; n <= number(ts, args[1]); n++ {
		role := []string{"assistant", "user"}[n%2]
		if n == number(ts, args[2]) {
			fmt.Fprintf(&text, "{\"role\":%q,\"content\":\"half a\n", role)
			continue
		}
		fmt.Fprintf(&text, "{\"role\":%q,\"content\":\"This is line %d.\"}\n", role, n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text.String()), 0o600))
}

// says adds exchanges to a session, each with a decision, a file, a number and an error: says demo 1 40
func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: says session first last")
	}
	ctx := context.Background()
	a := &app{system: system{getenv: ts.Getenv}}
	ts.Check(a.withEngine(ctx, toMake, turnstone.Config{}, func(eng *turnstone.Engine) error {
		s, err := eng.Session(ctx, args[0])
		if err != nil {
			return err
		}
		var drafts []turn.Draft
		for n := number(ts, args[1]); n <= number(ts, args[2]); n++ {
			drafts = append(drafts,
				turn.Draft{Role: turn.User, Content: turn.Text{Text: fmt.Sprintf("What about service %d?", n)}},
				turn.Draft{Role: turn.Agent, Content: turn.Text{Text: fmt.Sprintf("We decided to use port %d for service %d. The file /srv/app%d/main.go "+
					"listens there now, and all its tests pass on this machine and on the other one as well. Its log still has some ERR_%d errors.", 5000+n, n, n, n)}})
		}
		_, err = s.Append(ctx, drafts...)
		return err
	}))
}

// picture writes a conversation with an image of that many bytes: picture image.json 31457280
func picture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: picture file bytes")
	}
	data := base64.StdEncoding.EncodeToString(make([]byte, number(ts, args[1])))
	text := `[{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]}]`
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}
