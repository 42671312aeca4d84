package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The files that package bpe embeds are what this program makes.
func TestPackedFiles(t *testing.T) {
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		path := t.TempDir() + "/packed"
		if err := write(name, path); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../packed/" + name + ".bpe")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("../packed/%s.bpe is not what pack makes; run go run . here", name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, file := range []string{"", "YQ==", "YQ== x", "? 0", "YQ== 1", "YQ== -1", "YQ== 0\nYg== 0", " 0"} {
		if tokens, err := parse([]byte(file)); err == nil {
			t.Errorf("%q was read as %q", file, tokens)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	var single []string
	for b := range 256 {
		single = append(single, string([]byte{byte(b)}))
	}
	for _, tt := range []struct {
		tokens []string
		want   string
	}{
		{single[:255], "too few"},
		{append([]string{"ab"}, single...), "token 0 is not a single byte"},
		{append(single[:256:256], "abc"), `token 256, "abc"`},
		{append(single[:256:256], "abc", "ab"), `token 256, "abc"`},
		{append(single[:256:256], "a"), `token 256, "a"`},
		// Encoding abcd with what is before it gives bc first, and then three tokens.
		{append(single[:256:256], "bc", "ab", "cd", "abcd"), `token 259, "abcd"`},
	} {
		if _, err := pack(tt.tokens); err == nil || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
	if _, err := pack(append(single[:256:256], "ab", "cd", "abcd")); err != nil {
		t.Error(err)
	}
}
