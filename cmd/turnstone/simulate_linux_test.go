package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSimulateOnATerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	talk := strings.Repeat(`{"role":"user","content":"hello"}`+"\n"+`{"role":"assistant","content":"hi"}`+"\n", 40)
	if err := os.WriteFile(file, []byte(talk), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, quiet := range []bool{false, true} {
		args := []string{"--no-color", "simulate", file}
		if quiet {
			args = append(args, "--quiet")
		}
		shown := onTerminal(t, nil, args...)
		if strings.Contains(shown, "replaying  [###") == quiet || strings.Contains(shown, "] 100%  80 turns") == quiet {
			t.Errorf("quiet %v: %q", quiet, shown)
		}
		// The bar is gone before the answer comes.
		if answer := shown[strings.LastIndex(shown, "\rconversation")+1:]; !strings.HasPrefix(answer, "conversation     talk: 80 turns") && !quiet {
			t.Errorf("the answer is %q", answer)
		}
	}
	if shown := atTerminal(t, "\x04", nil, "--no-color", "simulate", "-"); !strings.HasPrefix(strings.TrimLeft(shown, "^D\b"), "turnstone: simulate: there is nothing to replay; name a file") {
		t.Errorf("without input: %q", shown)
	}
}
