package extract_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/compress/extract"
)

var update = flag.Bool("update", false, "rewrite the summaries in testdata")

// conversation reads the part of a file above its first summary: headers [time], lines
// "speaker: text", calls "> tool id arguments" and results "< tool id output". A line that begins
// with two spaces goes on with the one before. The user is called User.
func conversation(t *testing.T, text string) []extract.Line {
	t.Helper()
	var lines []extract.Line
	time := ""
	for row := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if more, ok := strings.CutPrefix(row, "  "); ok && len(lines) > 0 {
			lines[len(lines)-1].Text += "\n" + more
			continue
		}
		if strings.HasPrefix(row, "[") {
			time = strings.Trim(row, "[]")
			continue
		}
		l := extract.Line{Seq: int64(len(lines) + 1), Time: time}
		switch row[0] {
		case '>', '<':
			parts := strings.SplitN(row, " ", 4)
			if len(parts) < 4 {
				t.Fatalf("%q is no call and no result", row)
			}
			l.Kind, l.Name, l.ID, l.Text = extract.Call, parts[1], parts[2], parts[3]
			if row[0] == '<' {
				l.Kind = extract.Result
			}
		default:
			var found bool
			if l.Speaker, l.Text, found = strings.Cut(row, ": "); !found {
				t.Fatalf("%q has no speaker", row)
			}
			l.User = l.Speaker == "User"
		}
		lines = append(lines, l)
	}
	return lines
}

// TestGolden shows summaries of made-up conversations at several budgets. A file is the
// conversation and then, below a rule with its budget, each summary.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split(string(content), "\n==== ")
			lines := conversation(t, parts[0])
			var b strings.Builder
			b.WriteString(parts[0])
			for _, part := range parts[1:] {
				var budget int
				if _, err := fmt.Sscan(part, &budget); err != nil {
					t.Fatalf("%.20q: %v", part, err)
				}
				s := extract.Summarise(lines, extract.Options{Budget: budget, Count: bpe.Cl100k().Count})
				fmt.Fprintf(&b, "\n==== %d tokens: %d, lines %v\n%s", budget, s.Tokens, s.Seqs, s.Text)
			}
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(content), b.String()); diff != "" && !*update {
				t.Error(diff)
			}
		})
	}
}
