package wire_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/prompt/wire"
	"github.com/turnstone-dev/turnstone/prompt/wire/wiretest"
)

func TestEveryListIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := request(t, 0)
		for _, f := range formats {
			body, err := wire.Append(t.Context(), []byte("before "), f, r, picture)
			if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			body, found := bytes.CutPrefix(body, []byte("before "))
			if !found {
				t.Fatalf("%s: what stood in dst is gone: %s", f, body)
			}
			if err := wiretest.Check(f, body); err != nil {
				t.Fatalf("%s: %v\n%s", f, err, body)
			}
			again, err := wire.Append(t.Context(), nil, f, r, picture)
			if err != nil || !bytes.Equal(body, again) {
				t.Fatalf("%s: the same request twice: %v\n%s\n%s", f, err, body, again)
			}
			if blind, err := wire.Append(t.Context(), nil, f, r, nil); err != nil {
				t.Fatal(err)
			} else if err := wiretest.Check(f, blind); err != nil {
				t.Fatalf("%s without pictures: %v\n%s", f, err, blind)
			}
		}
	})
}

// endings are what stands behind the last message of a list: the brackets that close the list and, where a
// later message may be merged into the last one, that one's.
var endings = map[wire.Format][]string{
	wire.Ollama:    {`]}`},
	wire.OpenAI:    {`]}`},
	wire.Anthropic: {`]},{"role":"user","content":[{"type":"text","text":"(Go on.)"}]}]}`, `]}]}`},
	wire.Text:      {``},
}

// fillers stand behind a list in which only the system speaks.
var fillers = map[wire.Format]string{
	wire.Ollama:    `,{"role":"user","content":"(The conversation begins.)"}`,
	wire.OpenAI:    `,{"role":"user","content":"(The conversation begins.)"}`,
	wire.Anthropic: `{"role":"user","content":[{"type":"text","text":"(The conversation begins.)"}`,
}

func TestMoreMessagesChangeOnlyTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := request(t, 1)
		longer := r
		longer.Messages = append(slices.Clip(r.Messages), list(t, 1, "d")...)
		for _, f := range formats {
			short, err := wire.Append(t.Context(), nil, f, r, picture)
			if err != nil {
				t.Fatal(err)
			}
			long, err := wire.Append(t.Context(), nil, f, longer, picture)
			if err != nil {
				t.Fatal(err)
			}
			prefix := string(short)
			for _, ending := range endings[f] {
				var found bool
				if prefix, found = strings.CutSuffix(prefix, ending); found {
					break
				}
			}
			prefix = strings.TrimSuffix(prefix, fillers[f])
			if !strings.HasPrefix(string(long), prefix) {
				t.Fatalf("%s: the longer list has another beginning\n%s\n%s", f, short, long)
			}
		}
	})
}
