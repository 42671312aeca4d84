package front_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
)

// What a client wants is said to the server in a way that it takes, whichever API each of them speaks.
func TestWhatIsAskedFor(t *testing.T) {
	usage := m{"include_usage": true}
	for name, test := range map[string]struct {
		api, upstream front.Kind
		stream        bool
		more, want    m
	}{
		"a word to stop at": {front.OpenAI, front.Ollama, false, m{"stop": "END"}, m{"options.stop": []any{"END"}}},
		"words to stop at":  {front.OpenAI, front.Ollama, false, m{"stop": []string{"END", "FIN"}}, m{"options.stop": []any{"END", "FIN"}}},
		"no word":           {front.OpenAI, front.Ollama, false, m{"stop": nil}, m{}},
		"few tokens":        {front.OpenAI, front.OpenAI, false, m{"max_tokens": 7}, m{"max_tokens": 7.0}},
		"too many tokens":   {front.OpenAI, front.OpenAI, false, m{"max_completion_tokens": 1e6}, m{"max_completion_tokens": room}},
		"and of Ollama's":   {front.Ollama, front.OpenAI, false, m{"options": m{"num_predict": 1000000}}, m{"max_tokens": room}},
		"no tokens":         {front.OpenAI, front.OpenAI, false, m{"max_tokens": nil}, m{"max_tokens": nil}},
		"a stream":          {front.OpenAI, front.OpenAI, true, m{}, m{"stream_options": usage}},
		"its usage":         {front.OpenAI, front.OpenAI, true, m{"stream_options": usage}, m{"stream_options": usage}},
		"more of it":        {front.OpenAI, front.OpenAI, true, m{"stream_options": m{"include_usage": false, "include_obfuscation": false}}, m{"stream_options": m{"include_usage": true, "include_obfuscation": false}}},
		"nothing of it":     {front.OpenAI, front.OpenAI, false, m{"stream_options": usage}, m{}},
		"JSON":              {front.OpenAI, front.Ollama, false, m{"response_format": m{"type": "json_object"}}, m{"format": "json"}},
		"JSON of a form":    {front.OpenAI, front.Ollama, false, m{"response_format": m{"type": "json_schema", "json_schema": m{"name": "n", "schema": m{"type": "object"}}}}, m{"format": m{"type": "object"}}},
		"no form":           {front.OpenAI, front.Ollama, false, m{"response_format": m{"type": "text"}}, m{}},
		"thinking":          {front.OpenAI, front.Ollama, false, m{"reasoning_effort": "high"}, m{"think": "high"}},
		"no thinking":       {front.OpenAI, front.Ollama, false, m{"reasoning_effort": "none"}, m{"think": false}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, test.upstream, says("fine")))
			chat := w.talk(test.api, test.stream)
			chat.more = test.more
			chat.say("hi")
			if diff := cmp.Diff(test.want, w.wanted()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// room is what the window of these tests has left for a reply to a word.
const room = 3453.0

// wanted are the fields of the last request to the upstream server that come from its client.
func (w *world) wanted() m {
	w.Helper()
	var all m
	if err := json.Unmarshal([]byte(w.upstream.last().raw), &all); err != nil {
		w.Fatal(err)
	}
	for name, value := range all {
		options, ok := value.(m)
		switch {
		case name == "options" && ok:
			if stop, ok := options["stop"]; ok {
				all["options.stop"] = stop
			}
			fallthrough
		case name == "model" || name == "messages" || name == "stream" || name == "truncate" || name == "shift":
			delete(all, name)
		}
	}
	return all
}

// Ollama is told how much there is room for where a client does not say, or wants more.
func TestHowMuchOllamaMaySay(t *testing.T) {
	for name, test := range map[string]struct{ asked, want any }{
		"nothing":  {nil, room},
		"little":   {7, 7.0},
		"no end":   {-1, room},
		"too much": {1000000, room},
		"all":      {int(room), room},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.Ollama, says("fine")))
			chat := w.talk(front.Ollama, false)
			chat.more = m{"options": m{"num_predict": test.asked}}
			chat.say("hi")
			var got struct{ Options m }
			if err := json.Unmarshal([]byte(w.upstream.last().raw), &got); err != nil {
				t.Fatal(err)
			}
			if got.Options["num_predict"] != test.want {
				t.Errorf("it is told %v, want %v", got.Options["num_predict"], test.want)
			}
		})
	}
}
