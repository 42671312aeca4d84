package simulate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/simulate"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, input string
		want        []string
	}{
		{"two speakers", `{"speaker":"Ann","text":"hello"}` + "\n" + `{"speaker":"Ben","text":"hi"}`, []string{"user hello", "agent hi"}},
		{
			"a meeting", `{"speaker":"Ann","text":"hello","id":"1"}` + "\n\n" + `{"speaker":"Ben","text":"hi"}` + "\n" +
				`{"speaker":"Ann","text":"well"}` + "\n" + `{"speaker":"Cleo","text":"\"so\""}`,
			[]string{"user hello", "agent Ben: hi", "user well", `agent Cleo: "so"`},
		},
		{
			"a user who is called as the others are", `{"speaker":"others","text":"a"}` + "\n" + `{"speaker":"B","text":"b"}` + "\n" + `{"speaker":"C","text":"c"}`,
			[]string{"user a", "agent B: b", "agent C: c"},
		},
		{
			"messages", `[{"role":"system","content":"Be brief."},{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]`,
			[]string{"system Be brief.", "user hello", "agent hi"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := simulate.Read(t.Context(), "talk", []byte(test.input), "", history.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range c.Entries {
				got = append(got, fmt.Sprint(e.Role, " ", e.Content.Searchable()))
			}
			if diff := cmp.Diff(test.want, got); diff != "" || c.Name != "talk" {
				t.Errorf("%s: (-want +got)\n%s", c.Name, diff)
			}
		})
	}
}

// What was exported of one session is replayed in another, where its ids are those of nobody.
func TestReadDropsIDs(t *testing.T) {
	const line = `{"turn_id":"01J9Z3NDEKTSV4RRFFQ69G5FAV","session_id":"s","seq":1,"role":"user","form":"text","kind":"turn","content":{"text":"hello"},"created_at":"2025-01-01T00:00:00.000000Z","idempotency_key":"k"}`
	c, err := simulate.Read(t.Context(), "", []byte(line), history.Lines, history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Entries[0]; e.ID != "" || e.IdempotencyKey != "" || e.At.Year() != 2025 || e.Role != turn.User {
		t.Errorf("read %+v", e)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"nothing", "", "is empty"},
		{"no turns", `[]`, "has no turns"},
		{"no text", strings.Repeat(`{"speaker":"A","text":"a"}`+"\n", 2) + `{"speaker":"B","text":1}` + "\n" + `{"speaker":"C","text":"c"}`, "line 3"},
		{"broken", `{"speaker":"A","text":"a"}` + "\n" + `{"speaker"`, "line 2"},
		{"no name", `{"speaker":"A","text":"a"}` + "\n" + `{"speaker":"","text":"b"}`, "name who speaks"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := simulate.Read(t.Context(), "", []byte(test.input), "", history.Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}
