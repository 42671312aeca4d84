package history_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
)

// What is said of a document's members names the lines in which they begin, and what is wrong with them.
func TestMembersBesideTheMessages(t *testing.T) {
	for name, tt := range map[string]struct {
		input string
		want  []string
		model string
	}{
		"over several lines": {
			"{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\n\"extra\": {\n\"a\": 1\n}}",
			[]string{"members beside the messages: 1 at line 2"}, "",
		},
		"of a session": {
			"{\"sessionId\":\"x\",\"messages\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"}]}],\n\"metadata\": {\n\"cost\": 1\n}}",
			[]string{"members beside the messages: 1 at line 2"}, "",
		},
		"a system prompt": {
			"{\"system\":[\n{\"type\":\"video\"}\n],\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
			[]string{"parts of an unknown type: 1 at line 1"}, "",
		},
		"no UTF-8": {
			"{\"model\":\"caf\xe9\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
			[]string{"bytes that are not UTF-8: 1 at line 1"}, "caf\ufffd",
		},
		"no string": {
			`{"model":"a\qb","user":nobody,"messages":[{"role":"user","content":"hi"}]}`,
			[]string{"members beside the messages: 2 at line 1"}, "",
		},
		"nothing": {`{"model":"","user":null,"messages":[{"role":"user","content":"hi"}]}`, nil, ""},
	} {
		_, got := read(t, tt.input, "", history.Options{})
		if diff := cmp.Diff(tt.want, kinds(got.Report)); diff != "" || got.Header.Model != tt.model {
			t.Errorf("%s: model %q%s", name, got.Header.Model, diff)
		}
	}
}
