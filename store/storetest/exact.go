package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// strangeTexts are legal all the same.
var strangeTexts = map[string]string{
	"emoji":             "👩‍👩‍👧‍👦 🏳️‍🌈 \U0010ffff",
	"decomposed":        "e\u0301 \u1112\u1161\u11ab",
	"composed":          "é 한",
	"line separators":   "a\u2028b\u2029c\u0085d\vd\fe",
	"line ends":         "\r\n\n\r\n\r",
	"only space":        "   ",
	"control":           "\x01\x02\x1b[31m\x7f",
	"byte order mark":   "\ufeffbom",
	"replacement":       "\ufffd",
	"looks like null":   "NULL",
	"quotes":            `'"` + "`" + `\'\"$1 $$ ?1 :a @b`,
	"percent":           "%s %d %00 &#0;",
	"escapes":           `\x00 \u0000 \000 \N`,
	"right to left":     "\u202eabc שלום",
	"long":              strings.Repeat("0123456789abcdé", 70_000),
	"one character":     "x",
	"private use":       "\ue000\U000f0000",
	"looks like a hex":  "0xdeadbeef",
	"looks like a time": "2024-02-29T12:00:00Z",
}

func testExactness(t *testing.T, w *world) {
	w.run("strange but legal text reads back byte for byte", func(t *testing.T) {
		k := w.create(w.key("text")).Key
		for name, text := range strangeTexts {
			turns := w.append(k, said(turn.User, text))
			got := w.query(k, turn.Query{ID: turns[0].ID}).Turns
			if len(got) != 1 || got[0].Content.(turn.Text).Text != text {
				t.Errorf("%s: read back as %.60q", name, fmt.Sprint(got))
			}
		}
	})

	w.run("raw JSON reads back byte for byte", func(t *testing.T) {
		k := w.create(w.key("raw")).Key
		for _, raw := range []string{
			`1e400`, `-0`, `0.10`, `1E+2`, `123456789012345678901234567890.123456789`, `null`, `""`, `[]`, `{}`,
			"{ \"a\" :\t1 ,\r\n\"b\":[ ]\n}", `{"a":1,"a":2}`, `{"z":1,"a":2}`, `"\u00e9\/\ud83d\ude00"`, `"\u0000"`, `"\ud800"`, `"é"`,
			`[[[[[[[[[[1]]]]]]]]]]`,
		} {
			w.append(k, turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "n", Arguments: raw}}}},
				turn.Draft{Role: turn.System, Content: turn.Result{Name: "n", CallID: "c", Status: turn.CallOK, Result: raw}},
				turn.Draft{Role: turn.User, Content: turn.Action{Name: "n", Payload: raw}})
			log := w.log(k)
			last := log[len(log)-3:]
			got := []string{last[0].Calls()[0].Arguments, last[1].Content.(turn.Result).Result, last[2].Content.(turn.Action).Payload}
			same(t, "raw values", got, []string{raw, raw, raw})
		}
	})

	w.run("any turn reads back as it was returned", func(t *testing.T) {
		n := 0
		rapid.Check(t, func(rt *rapid.T) {
			n++
			k := w.key(fmt.Sprintf("any-%d", n))
			drafts := turngen.Log(8).Draw(rt, "log")
			sealed, err := w.seal(drafts...)
			if err != nil {
				rt.Fatal(err)
			}
			at := time.UnixMicro(rapid.Int64Range(-62135596800e6, 253402300799e6).Draw(rt, "at")).UTC()
			var told, read []turn.Turn
			err = w.Update(w.ctx(), func(tx store.Tx) (err error) {
				if _, err := tx.Log().InsertSession(w.ctx(), blank(k, at)); err != nil {
					return err
				}
				told, err = turn.Append(w.ctx(), tx.Log(), k, at, sealed...)
				return err
			})
			if err != nil {
				rt.Fatal(err)
			}
			err = w.View(w.ctx(), func(tx store.Tx) error {
				info, err := tx.Log().Session(w.ctx(), k)
				if err != nil {
					return err
				}
				read, err = tx.Log().Scan(w.ctx(), k.Tenant, turn.Span{Segment: info.Segment, From: 1, To: math.MaxInt64}, turn.RowFilter{}, 100)
				return err
			})
			if err != nil {
				rt.Fatal(err)
			}
			for i := range read {
				if read[i].Session != "" {
					rt.Errorf("turn %d says session %q before anything was read through one", i+1, read[i].Session)
				}
				read[i].Session = k.Session
			}
			same(rt, "turns", read, told)
		})
	})

	w.run("times are equal to the microsecond, from year 1 to 9999", func(t *testing.T) {
		for i, at := range []time.Time{
			noon, time.UnixMicro(0).UTC(), time.UnixMicro(-1).UTC(), time.UnixMicro(1).UTC(),
			time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC),
		} {
			k := w.key(fmt.Sprintf("time-%d", i))
			w.update(func(tx store.Tx) error {
				if _, err := tx.Log().InsertSession(w.ctx(), blank(k, at)); err != nil {
					return err
				}
				if err := tx.Log().InsertBookmark(w.ctx(), k, turn.Bookmark{Name: "b", At: at}); err != nil {
					return err
				}
				return tx.Log().SetLease(w.ctx(), k, turn.Lease{Token: "t", Until: at})
			})
			info := w.session(k)
			w.view(func(tx store.Tx) error {
				marks, err := tx.Log().Bookmarks(w.ctx(), k)
				if err != nil {
					return err
				}
				lease, err := tx.Log().Lease(w.ctx(), k)
				for what, got := range map[string]time.Time{
					"created": info.CreatedAt, "last activity": info.LastActivity, "bookmark": marks[0].At, "lease": lease.Until,
				} {
					if !got.Equal(at) || got.Location() != time.UTC {
						t.Errorf("%s: %v, want %v", what, got, at)
					}
				}
				return err
			})
		}
	})
}
