package diff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/diff"
)

// shown is a comparison as one text, such as "=a -b +c".
func shown(lines []diff.Line) string {
	var parts []string
	for _, l := range lines {
		switch l.Op {
		case diff.Same:
			parts = append(parts, "="+l.Text)
		case diff.Skipped:
			parts = append(parts, strings.Repeat("@", l.Lines))
		default:
			parts = append(parts, string(l.Op)+l.Text)
		}
	}
	return strings.Join(parts, " ")
}

func TestLines(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{"", "", ""},
		{"a\nb\n", "a\nb", "=a =b"},
		{"", "a", "+a"},
		{"a", "", "-a"},
		{"a\nb\nc", "a\nc", "=a -b =c"},
		{"a\nc", "a\nb\nc", "=a +b =c"},
		{"a\nb\nc", "a\nx\nc", "=a -b +x =c"},
		{"a\nb\nc\nd\ne", "x\nb\nd\ny", "-a +x =b -c =d -e +y"},
		{"a\na\na", "a\na", "=a =a -a"},
		{"a\n\nb", "a\nb", "=a - =b"},
	} {
		if got := shown(diff.Lines(test.from, test.to)); got != test.want {
			t.Errorf("%q and %q: got %s, want %s", test.from, test.to, got, test.want)
		}
	}
}

func TestLinesOfTextsWithoutMeasure(t *testing.T) {
	from := "same\n" + strings.Repeat("a\nb\n", 2000) + "end"
	to := "same\n" + strings.Repeat("b\nc\n", 2000) + "end"
	counts := map[diff.Op]int{}
	for _, l := range diff.Lines(from, to) {
		counts[l.Op]++
	}
	if want := map[diff.Op]int{diff.Same: 2, diff.Removed: 4000, diff.Added: 4000}; !cmp.Equal(counts, want) {
		t.Errorf("got %v", counts)
	}
}

// A comparison holds both texts, in order, and as much in common as can be.
func TestLinesHoldBothTexts(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", ""})
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return strings.Join(append(rapid.SliceOf(line).Draw(t, name), "end"), "\n") }
		from, to := text("from"), text("to")
		lines := diff.Lines(from, to)
		var a, b []string
		for _, l := range lines {
			if l.Op != diff.Added {
				a = append(a, l.Text)
			}
			if l.Op != diff.Removed {
				b = append(b, l.Text)
			}
		}
		if strings.Join(a, "\n") != from || strings.Join(b, "\n") != to {
			t.Fatalf("%s", shown(lines))
		}
		if back := diff.Lines(to, from); len(back) != len(lines) {
			t.Fatalf("there %s and back %s", shown(lines), shown(back))
		}
		if diff.Differ(lines) != (from != to) {
			t.Fatalf("%q and %q: %s", from, to, shown(lines))
		}
	})
}

func TestShorten(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{"a\nb\nc\nd\ne\nf", "a\nb\nc\nx\ne\nf", "@@ =c -d +x =e @"},
		{"a\nb", "a\nb", "@@"},
		{"b", "c", "-b +c"},
		{"a\nb\nc", "x\na\nb\nc\ny", "+x =a @ =c +y"},
	} {
		if got := shown(diff.Shorten(diff.Lines(test.from, test.to), 1)); got != test.want {
			t.Errorf("%q and %q: got %s, want %s", test.from, test.to, got, test.want)
		}
	}
}
