package toolargs_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/toolargs"
)

func TestAppend(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for raw, want := range map[string]string{
		"":                       `{}`,
		" \n":                    `{}`,
		` {"a": 1} `:             `{"a": 1}`,
		`[1]`:                    `{"arguments":[1]}`,
		`null`:                   `{"arguments":null}`,
		`{"a":`:                  `{"arguments":"{\"a\":"}`,
		"\xff":                   `{"arguments":"` + "\ufffd" + `"}`,
		`{"a":"\ud83d\ude00"}`:   `{"a":"\ud83d\ude00"}`,
		`{"a":"\ud800"}`:         `{"arguments":"{\"a\":\"\\ud800\"}"}`,
		`{"a":"\\ud800"}`:        `{"a":"\\ud800"}`,
		`{"a":1e300}`:            `{"a":1e300}`,
		`{"a":1e400}`:            `{"arguments":"{\"a\":1e400}"}`,
		deep(100):                `{"arguments":` + deep(100) + `}`,
		deep(101):                `{"arguments":"` + deep(101) + `"}`,
		strings.Repeat("9", 400): `{"arguments":"` + strings.Repeat("9", 400) + `"}`,
	} {
		if got := string(toolargs.Append([]byte("x"), raw)); got != "x"+want {
			t.Errorf("%q: got %s, want x%s", raw, got, want)
		}
	}
}

func TestAppendSchema(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                  `{"type":"object","properties":{}}`,
		" {} ":                              `{"type":"object","properties":{}}`,
		`{"type":"object"}`:                 `{"properties":{},"type":"object"}`,
		`{"properties":{"a":{}}}`:           `{"type":"object","properties":{"a":{}}}`,
		`{"type":"object","properties":{}}`: `{"type":"object","properties":{}}`,
		`{"type":"array"}`:                  "",
		`{"type":["object"]}`:               "",
		`[]`:                                "",
		`{"a":`:                             "",
		`{"a":"\ud800"}`:                    "",
	} {
		got, err := toolargs.AppendSchema([]byte("x"), raw)
		if string(got) != "x"+want || (err == nil) != (want != "") {
			t.Errorf("%q: got %s, %v, want x%s", raw, got, err, want)
		}
	}
}

func TestText(t *testing.T) {
	for raw, want := range map[string]string{
		``: ``, `null`: ``, `""`: ``, `"{\"a\":1}"`: `{"a":1}`, `{"a" : 1}`: `{"a" : 1}`, `7`: `7`, `nonsense`: `nonsense`,
	} {
		if got := toolargs.Text([]byte(raw)); got != want {
			t.Errorf("%s is %q, want %q", raw, got, want)
		}
	}
}
