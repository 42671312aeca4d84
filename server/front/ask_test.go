package front_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
)

// sent are the fields of the last request to the upstream server that have names of these.
func (w *world) sent(names ...string) m {
	w.Helper()
	var all m
	if err := json.Unmarshal([]byte(w.upstream.last().raw), &all); err != nil {
		w.Fatal(err)
	}
	some := m{}
	for _, name := range names {
		if value, ok := all[name]; ok {
			some[name] = value
		}
	}
	return some
}

// What a client of one API wants is said to a server of the other in a way that it takes.
func TestOptionsAreTranslated(t *testing.T) {
	for name, test := range map[string]struct {
		api, upstream front.Kind
		more, want    m
	}{
		"a word to stop at": {front.OpenAI, front.Ollama, m{"stop": "END"}, m{"stop": []any{"END"}}},
		"words to stop at":  {front.OpenAI, front.Ollama, m{"stop": []string{"END", "FIN"}}, m{"stop": []any{"END", "FIN"}}},
		"no word":           {front.OpenAI, front.Ollama, m{"stop": nil}, m{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, test.upstream, says("fine")))
			chat := w.talk(test.api, false)
			chat.more = test.more
			chat.say("hi")
			got := m{}
			for name, value := range w.sent("options")["options"].(m) {
				if name != "num_ctx" && name != "num_predict" {
					got[name] = value
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
