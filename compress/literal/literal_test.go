package literal_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress/literal"
)

func TestOf(t *testing.T) {
	for kind, list := range map[literal.Kind]string{
		literal.None: `word Word WORD don't o'clock and/or either/or hello-world e.g U.S straße 日本 - -- / ... a I
			state-of-the-art NASA END ENTER yes/no x Vol.Xy`,
		literal.Number:     "42 3.5 1,200 $35 80% -7 +3 €20 5k 10x 1st 22nd 90s 5km 0",
		literal.Date:       "2024-05-23 14:30 2024-05-14T06:33:04Z 5/8/2023 3pm 10:30AM 06:33:04 2024-05-14T06:33:04",
		literal.Version:    "v1.2.3 1.26.0 1.26.0-rc1 v2.0 10.0.0.1",
		literal.Identifier: "snake_case camelCase fmt.Println --dry-run HTTP_PROXY openSession NewStore user_id",
		literal.ID: `M05KNL gift_card_8887175 4f3c2a1b #123 HAT227 01J9ZQ4X 550e8400-e29b-41d4-a716-446655440000
			GPT-4 B2B x86`,
		literal.Path:    `store/sqlite/tx.go ./x /usr/bin ~/notes tx.go tx.go:12 a/b.go C:\dir\file go.mod testdata/a_b`,
		literal.Address: "https://example.org/a?b=1 me@example.org www.example.org postgres://h/db",
		literal.Error:   "TypeError ErrNotFound ENOENT NullPointerException ECONNREFUSED",
	} {
		for word := range strings.FieldsSeq(list) {
			if got := literal.Of(word); got != kind {
				t.Errorf("%s is %v, want %v", word, got, kind)
			}
		}
	}
	if got := literal.Of(strings.Repeat("a1", 300)); got != literal.None {
		t.Errorf("a blob is %v", got)
	}
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"nothing here, really.", nil},
		{"Open (store/tx.go:12), then `user_id`.", []string{"path store/tx.go:12", "identifier user_id"}},
		{`{"order_id": "K12", "total": 42}`, []string{"identifier order_id", "id K12", "number 42"}},
		{"At 14:30 we paid $35, 80% of it.", []string{"date 14:30", "number $35", "number 80%"}},
		{"error: disk full\nretry", []string{"error disk full"}},
		{"panic: index 3 out of range", []string{"error index 3 out of range"}},
		{"Error: " + strings.Repeat("so long a message ", 20) + "v1.2.3", []string{
			"error " + strings.TrimSpace(strings.Repeat("so long a message ", 5)) + " so", "version v1.2.3"}},
		{"an error: ", nil},
		{"error:\nnext line", nil},
		{"my error", nil},
		{"listen on :8080", []string{"number 8080"}},
		{"See https://example.org/x.", []string{"address https://example.org/x"}},
		{"**M05KNL** 日本 v1.2.3。", []string{"id M05KNL"}},
	} {
		var got []string
		for _, l := range literal.Find(test.text) {
			got = append(got, fmt.Sprintf("%v %s", l.Kind, test.text[l.Start:l.End]))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q: %s", test.text, diff)
		}
	}
}

func TestContains(t *testing.T) {
	for _, test := range []struct {
		text, literal string
		want          bool
	}{
		{"see tx.go:12 there", "tx.go:12", true},
		{"tx.go", "tx.go", true},
		{"(tx.go)", "tx.go", true},
		{"mytx.go", "tx.go", false},
		{"tx.gold", "tx.go", false},
		{"42", "42", true},
		{"142, 42", "42", true},
		{"142", "42", false},
		{"a_42", "42", false},
		{"é42", "42", false},
		{"$42.", "$42", true},
		{"x$42", "$42", true},
		{"42", "", false},
		{"", "42", false},
	} {
		if got := literal.Contains(test.text, test.literal); got != test.want {
			t.Errorf("%q in %q: %v", test.literal, test.text, got)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("error: open store/tx.go:12: ENOENT at 14:30, v1.2.3 for me@example.org (#12)")
	f.Add("日本 https://x.y/z $1,200 \xff\x00 {\"a_b\": [1, \"M05KNL\"]}")
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, l := range literal.Find(text) {
			if l.Start < end || l.End <= l.Start || l.End > len(text) {
				t.Fatalf("%+v after %d in %q", l, end, text)
			}
			end = l.End
			if l.Kind == literal.None || l.Kind > literal.Error {
				t.Errorf("%+v", l)
			}
			word := text[l.Start:l.End]
			if utf8.ValidString(text) && !utf8.ValidString(word) {
				t.Errorf("%q is cut inside of a character", word)
			}
			if l.Kind != literal.Error && literal.Of(word) != l.Kind {
				t.Errorf("%q is %v alone and %v in %q", word, literal.Of(word), l.Kind, text)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	text := strings.Repeat("We moved store/sqlite/tx.go to v1.2.3 at 14:30; the user said that M05KNL is fine. ", 10000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		literal.Find(text)
	}
}
