package terminal_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

func TestCells(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "plain": 5, "é": 1, "e\u0301": 1, "変更前": 6, "ａ": 2, "ﾊ": 1, "안녕": 4, "🚂 x": 4, "a\u200bb": 2, "\u20ddo": 1,
	} {
		if got := terminal.Cells(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}
