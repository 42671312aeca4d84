package chat_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/chat"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		text, sent string
		command    bool
	}{
		{"hello", "hello", false},
		{" two\nlines ", " two\nlines ", false},
		{"and/or //", "and/or //", false},
		{" /goal done \n", "/goal done", true},
		{"/", "/", true},
		{"//etc/hosts", "/etc/hosts", false},
		{"  //a //b ", "  /a //b ", false},
		{"// Package x\npackage x\n", "// Package x\npackage x\n", false},
		{"", "", false},
	} {
		if sent, command := chat.Read(tt.text); sent != tt.sent || command != tt.command {
			t.Errorf("%q: %q, a command: %v", tt.text, sent, command)
		}
	}
}

func TestLeaves(t *testing.T) {
	for text, want := range map[string]bool{"/quit": true, " /exit\n": true, "//quit": false, "quit": false, "/quit now": false} {
		if chat.Leaves(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
