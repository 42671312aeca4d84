package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
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
