package front

import (
	"strings"
	"testing"
)

// What is read quickly is read as everything else is, and only what is meant to be is.
func TestQuick(t *testing.T) {
	ollama := func(message string) string {
		return `{"model":"m","created_at":"2026-01-02T03:04:05.6Z","message":{"role":"assistant",` + message + `},"done":false}`
	}
	openai := func(delta, end string) string {
		return `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{` + delta + `},` + end + `}`
	}
	const unended = `"finish_reason":null}]`
	for name, test := range map[string]struct {
		kind           Kind
		line           string
		quick          bool
		text, thinking string
	}{
		"a word":                {Ollama, ollama(`"content":"Hello "`), true, "Hello ", ""},
		"a word of no letters":  {Ollama, ollama(`"content":""`), true, "", ""},
		"escapes":               {Ollama, ollama(`"content":"\"a\\\n\u00e9\u0000"`), true, "\"a\\\né\ufffd", ""},
		"other letters":         {Ollama, ollama(`"content":"日本"`), true, "日本", ""},
		"letters that are none": {Ollama, ollama(`"content":"a` + "\xff" + `"`), true, "a\ufffd", ""},
		"a thought":             {Ollama, ollama(`"content":"","thinking":"Hm"`), true, "", "Hm"},
		"both":                  {Ollama, ollama(`"content":"a","thinking":"b"`), false, "a", "b"},
		"a call":                {Ollama, ollama(`"content":"a","tool_calls":[]`), false, "a", ""},
		"another order":         {Ollama, `{"done":false,"message":{"content":"a","role":"assistant"}}`, false, "a", ""},
		"quoted":                {Ollama, ollama(`"x":"\"message\":{\"role\":\"assistant\",\"content\":\"b","content":"a"`), false, "a", ""},
		"blanks":                {Ollama, ollama(`"content": "a"`), false, "a", ""},
		"a delta":               {OpenAI, openai(`"content":"Hello "`, unended), true, "Hello ", ""},
		"with usage of none":    {OpenAI, openai(`"content":"a"`, `"logprobs":null,`+unended+`,"usage":null`), true, "a", ""},
		"reasons":               {OpenAI, openai(`"reasoning_content":"Hm"`, `"logprobs":null,`+unended), true, "", "Hm"},
		"usage":                 {OpenAI, openai(`"content":"a"`, unended+`,"usage":{"prompt_tokens":1}`), false, "a", ""},
		"usage before":          {OpenAI, strings.Replace(openai(`"content":"a"`, unended), `"id":"c"`, `"usage":{"prompt_tokens":1}`, 1), false, "a", ""},
		"the end":               {OpenAI, openai(`"content":"a"`, `"finish_reason":"stop"}]`), false, "a", ""},
		"with a role":           {OpenAI, openai(`"role":"assistant","content":"a"`, unended), false, "a", ""},
		"another choice":        {OpenAI, strings.Replace(openai(`"content":"a"`, unended), `"index":0`, `"index":1`, 1), false, "", ""},
		"a comment":             {OpenAI, ": keep on", false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			line := []byte(test.line + "\r\n")
			var quick, slow heard
			if got := quick.quick(test.kind, line); got != test.quick {
				t.Errorf("read quickly: %v", got)
			}
			var err error
			if test.kind == Ollama {
				err = slow.ollama(line)
			} else {
				_, err = slow.openai(line)
			}
			if err != nil || string(slow.text) != test.text || string(slow.thinking) != test.thinking {
				t.Errorf("slowly %q, %q, %v", slow.text, slow.thinking, err)
			}
			if test.quick && (string(quick.text) != test.text || string(quick.thinking) != test.thinking) {
				t.Errorf("quickly %q, %q", quick.text, quick.thinking)
			}
		})
	}
}

// What is no JSON is not heard, and neither is an error that comes with a word.
func TestQuickIsNotHasty(t *testing.T) {
	for _, line := range []string{
		`{"message":{"role":"assistant","content":"` + "\n" + `"},"done":false}`,
		`{"message":{"role":"assistant","content":"\x"},"done":false}`,
		`{"error":"no","message":{"role":"assistant","content":"a"},"done":false}`,
		`[{"message":{"role":"assistant","content":"a"},"done":false}`,
		`{"message":{"role":"assistant","content":"a"},"done":false}}`,
		`{"message":{"role":"assistant","content":"`,
	} {
		var h heard
		if p, err := h.hear(Ollama, []byte(line)); err == nil || len(p.text) > 0 {
			t.Errorf("%s: heard %q, %v", line, p.text, err)
		}
	}
}

// The place of the last word is only where the next one is looked for first.
func TestQuickFindsWordsElsewhere(t *testing.T) {
	var h heard
	for _, model := range []string{"a", "longer", "", "a"} {
		line := `{"model":"` + model + `","message":{"role":"assistant","content":"word "},"done":false}`
		if !h.quick(Ollama, []byte(line)) {
			t.Errorf("%s is not read quickly", line)
		}
	}
	if string(h.text) != "word word word word " {
		t.Errorf("heard %q", h.text)
	}
}

// A line that is like the last one is read as it would be without it.
func TestQuickAfterTheLastLine(t *testing.T) {
	line := func(content string) string {
		return `{"model":"m","message":{"role":"assistant","content":"` + content + `"},"done":false}` + "\n"
	}
	for name, test := range map[string]struct {
		line  string
		quick bool
		said  string
	}{
		"another word":           {line("b"), true, "b"},
		"no word":                {line(""), true, ""},
		"an escape":              {line(`\n\"`), true, "\n\""},
		"other letters":          {line("日本"), true, "日本"},
		"letters that are none":  {line("\xff"), true, "\ufffd"},
		"a control character":    {line("\x01"), false, ""},
		"another field":          {line(`b","thinking":"c`), false, ""},
		"an end within the word": {line(`b"},"done":false}`), false, ""},
		"a line without its end": {strings.TrimSuffix(line("b"), "\n"), true, "b"},
		"cut off":                {line("")[:20], false, ""},
		"lead and tail overlap":  {strings.Replace(line(""), `""`, `"`, 1), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var h heard
			if !h.quick(Ollama, []byte(line("a"))) {
				t.Fatal("the first line is not read quickly")
			}
			if got := h.quick(Ollama, []byte(test.line)); got != test.quick || string(h.text) != "a"+test.said {
				t.Errorf("read quickly: %v, heard %q", got, h.text)
			}
			if !h.quick(Ollama, []byte(line("z"))) || string(h.text) != "a"+test.said+"z" {
				t.Errorf("heard %q", h.text)
			}
		})
	}
}

// Thoughts and words take turns.
func TestQuickThinksAndSpeaks(t *testing.T) {
	var h heard
	for _, message := range []string{`"content":"","thinking":"a"`, `"content":"","thinking":"b"`, `"content":"c"`, `"content":"d"`, `"content":"","thinking":"e"`} {
		if !h.quick(Ollama, []byte(`{"message":{"role":"assistant",`+message+`},"done":false}`)) {
			t.Errorf("%s is not read quickly", message)
		}
	}
	if string(h.text) != "cd" || string(h.thinking) != "abe" {
		t.Errorf("heard %q, thought %q", h.text, h.thinking)
	}
}
