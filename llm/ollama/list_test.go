package ollama_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/ollama"
)

func TestList(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       []ollama.Listed
		wrong      bool
	}{
		{"none", `{"models":[]}`, nil, false},
		{"two", `{"models":[{"name":"b","digest":"bb","size":7,"details":{"family":"x"}},{"name":"a:1b","digest":"aa"}]}`,
			[]ollama.Listed{{Name: "b", Digest: "bb", Bytes: 7}, {Name: "a:1b", Digest: "aa"}}, false},
		{"nonsense", `{"models":[{"name":7}]}`, nil, true},
		{"somebody else", `<html>`, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/tags" {
					t.Errorf("asked for %s", r.URL)
				}
				if _, err := io.WriteString(w, tt.body); err != nil {
					t.Error(err)
				}
			}))
			got, err := ollama.NewClient(s.URL, ollama.Config{HTTP: s.HTTP}).List(t.Context())
			var answer *ollama.AnswerError
			if diff := cmp.Diff(tt.want, got); diff != "" || errors.As(err, &answer) != tt.wrong || err != nil && !tt.wrong {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}
