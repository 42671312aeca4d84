package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

// What the model server counted for a prompt makes the next count better, and says whether it saw all of it.
func TestUsageOfAPrompt(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "Hello. "+strings.Repeat("A long story. ", 200))
	var made struct {
		End     int64
		SHA256  string
		Account struct {
			Tokens    int
			Certainty string
		}
	}
	const ask = `{"model":"some-model","context":8192}`
	c.want(http.StatusNotFound, nil, "POST", "/sessions/s/prompt/usage", `{"prompt_tokens":7}`)
	c.want(http.StatusOK, &made, "POST", "/sessions/s/prompt", ask)
	counted := made.Account.Tokens * 11 / 10
	if made.Account.Certainty != "estimated" {
		t.Fatalf("%+v", made)
	}
	var came struct {
		Sent      int
		Truncated bool
	}
	c.say("s", "Hello again.")
	for _, which := range []string{fmt.Sprintf(`"at":%d,"sha256":%q`, made.End, made.SHA256), `"number":1`} {
		c.want(http.StatusOK, &came, "POST", "/sessions/s/prompt/usage", fmt.Sprintf(`{"prompt_tokens":%d,%s}`, counted, which))
		if came.Sent < counted/2 || came.Truncated {
			t.Errorf("%s: %+v", which, came)
		}
	}
	for range 7 {
		c.want(http.StatusOK, nil, "POST", "/sessions/s/prompt/usage", fmt.Sprintf(`{"prompt_tokens":%d,"number":1}`, counted))
	}
	if c.want(http.StatusOK, &made, "POST", "/sessions/s/prompt", ask); made.Account.Certainty != "calibrated" {
		t.Errorf("%+v", made)
	}
	c.want(http.StatusOK, &came, "POST", "/sessions/s/prompt/usage", `{"prompt_tokens":9}`)
	if !came.Truncated {
		t.Errorf("%+v", came)
	}
	for _, test := range []struct {
		body, says string
		status     int
	}{
		{`{}`, "prompt_tokens", 400},
		{`{"prompt_tokens":0}`, "prompt_tokens", 400},
		{`{"prompt_tokens":7,"at":1,"number":1}`, "number: is given beside at", 400},
		{`{"prompt_tokens":7,"number":99}`, "prompt 99", 404},
		{`{"prompt_tokens":7,"at":99}`, "turn 99", 404},
		{`{"prompt_tokens":7,"number":1,"sha256":"x"}`, "compiled anew", 409},
	} {
		if got := c.want(test.status, nil, "POST", "/sessions/s/prompt/usage", test.body); !strings.Contains(got.body, test.says) {
			t.Errorf("%s: %s", test.body, got.body)
		}
	}
}
