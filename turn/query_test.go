package turn_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestPagesOfAnyQueryAreTheTurnsThatPassIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBook(rt)
		log := b.append(rt, turngen.Log(30).Draw(rt, "log")...)
		q := query().Draw(rt, "query")
		if len(log) > 0 && rapid.IntRange(0, 3).Draw(rt, "among") == 0 {
			some := rapid.SliceOfDistinct(rapid.SampledFrom(log), func(u turn.Turn) string { return u.ID }).Draw(rt, "some")
			q.Among = []string{turngen.ID(1 << 40)}
			for _, u := range some {
				q.Among = append(q.Among, u.ID, log[0].ID)
			}
		}
		if len(log) > 0 && rapid.IntRange(0, 9).Draw(rt, "one") == 0 {
			q.ID = rapid.SampledFrom(log).Draw(rt, "id").ID
		}
		var want []turn.Turn
		for _, u := range log {
			if passes(q, u) {
				want = append(want, u)
			}
		}
		q.Limit = 1000
		page := b.query(rt, q)
		same(rt, fmt.Sprintf("%+v", q), page.Turns, want)
		same(rt, "cursor of the last page", page.Next, int64(0))

		q.Limit = rapid.IntRange(1, 5).Draw(rt, "limit")
		var together []turn.Turn
		for {
			page = b.query(rt, q)
			together = append(together, page.Turns...)
			if page.Next == 0 {
				break
			}
			if len(page.Turns) != q.Limit || page.Next != page.Turns[q.Limit-1].Seq {
				rt.Fatalf("a page of %d turns with cursor %d", len(page.Turns), page.Next)
			}
			q.After = page.Next
		}
		same(rt, "pages together", together, want)
	})
}

func query() *rapid.Generator[turn.Query] {
	return rapid.Custom(func(t *rapid.T) turn.Query {
		seq := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 31))
		at := rapid.Map(rapid.IntRange(-1, 31), func(n int) time.Time {
			if n < 0 {
				return time.Time{}
			}
			return noon.Add(time.Duration(n) * time.Millisecond)
		})
		return turn.Query{
			Role: rapid.SampledFrom([]turn.Role{"", "", turn.User, turn.Agent, turn.System}).Draw(t, "role"),
			Form: rapid.SampledFrom([]turn.Form{"", "", "", turn.FormText, turn.FormAction, turn.FormSpeech}).Draw(t, "form"),
			Kind: rapid.SampledFrom([]turn.Kind{"", "", "", turn.KindTurn, turn.KindSummary}).Draw(t, "kind"),
			From: seq.Draw(t, "from"), To: seq.Draw(t, "to"), Since: at.Draw(t, "since"), Until: at.Draw(t, "until"),
			Match:  rapid.SampledFrom([]string{"", "", "", "e", "test", "café"}).Draw(t, "match"),
			Regexp: rapid.SampledFrom([]string{"", "", "", "^the", `\d`, "(?i)T$"}).Draw(t, "regexp"),
			Text:   rapid.SampledFrom([]string{"", "", "run", "the tests", "cafe", "東京"}).Draw(t, "text"),
		}
	})
}

// passes is the query as one would write it for a single turn.
func passes(q turn.Query, u turn.Turn) bool {
	text := u.Content.Searchable()
	have := words.Set(text)
	for _, term := range words.Set(q.Text) {
		if !slices.Contains(have, term) {
			return false
		}
	}
	return (q.Role == "" || u.Role == q.Role) && (q.Form == "" || u.Form == q.Form) && (q.Kind == "" || u.Kind == q.Kind) &&
		u.Seq >= q.From && (q.To == 0 || u.Seq <= q.To) &&
		(q.Since.IsZero() || !u.CreatedAt.Before(q.Since)) && (q.Until.IsZero() || u.CreatedAt.Before(q.Until)) &&
		strings.Contains(text, q.Match) && regexp.MustCompile(q.Regexp).MatchString(text) &&
		(q.Among == nil || slices.Contains(q.Among, u.ID)) && (q.ID == "" || u.ID == q.ID)
}

func TestCompileNamesTheFieldThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		rule    string
		q       turn.Query
		field   string
		problem string
	}{
		{"unknown role", turn.Query{Role: "assistant"}, "role", `"assistant" is not a role`},
		{"unknown form", turn.Query{Form: "smell"}, "form", `"smell" is not a form`},
		{"unknown kind", turn.Query{Kind: "sort"}, "kind", `"sort" is not a kind`},
		{"negative limit", turn.Query{Limit: -1}, "limit", "-1 is out of range"},
		{"limit too large", turn.Query{Limit: 10_001}, "limit", "10001 is out of range"},
		{"negative cursor", turn.Query{After: -1}, "after", "never negative"},
		{"negative seq", turn.Query{From: -1}, "after", "never negative"},
		{"negative last seq", turn.Query{To: -1}, "after", "never negative"},
		{"literal too long", turn.Query{Match: long(4097)}, "match", "4097 bytes, at most 4096"},
		{"literal not UTF-8", turn.Query{Match: "\xff"}, "match", "not valid UTF-8"},
		{"literal with NUL", turn.Query{Match: "\x00"}, "match", "NUL"},
		{"regexp too long", turn.Query{Regexp: long(4097)}, "regexp", "4097 bytes"},
		{"regexp not UTF-8", turn.Query{Regexp: "\xff"}, "regexp", "not valid UTF-8"},
		{"regexp of no syntax", turn.Query{Regexp: "a("}, "regexp", "missing closing )"},
		{"regexp that looks back", turn.Query{Regexp: `(?<=a)b`}, "regexp", "invalid"},
		{"regexp that refers back", turn.Query{Regexp: `(a)\1`}, "regexp", "invalid escape"},
		{"text too long", turn.Query{Text: long(4097)}, "text", "4097 bytes"},
		{"text not UTF-8", turn.Query{Text: "\xff"}, "text", "not valid UTF-8"},
		{"text without a word", turn.Query{Text: "?! ..."}, "text", "holds nothing to search for"},
		{"text of space", turn.Query{Text: " "}, "text", "holds nothing to search for"},
	} {
		_, err := c.q.Compile()
		refused(t, c.rule, err, c.field, c.problem)
	}
	for _, q := range []turn.Query{{Limit: 10_000}, {Match: long(4096), Regexp: long(1000), Text: long(4096)}} {
		if _, err := q.Compile(); err != nil {
			t.Errorf("at the bound: %v", err)
		}
	}
}

func TestAPageHoldsAHundredTurnsUnlessAskedOtherwise(t *testing.T) {
	b := newBook(t)
	for range 101 {
		b.append(t, said(turn.User, "x"))
	}
	page := b.query(t, turn.Query{})
	if len(page.Turns) != 100 || page.Next != 100 {
		t.Errorf("%d turns, next %d; want 100 and 100", len(page.Turns), page.Next)
	}
}
