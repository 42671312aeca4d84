package server_test

import (
	"net/http"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/server"
)

func TestModelsAndTokens(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	var models struct {
		Items []struct {
			Name    string
			Context int
		}
	}
	c.want(http.StatusOK, &models, "GET", "/models", nil)
	if len(models.Items) < 10 || models.Items[0].Name == "" || models.Items[0].Context == 0 {
		t.Errorf("%+v", models)
	}
	type counted struct {
		Tokens, Bytes, Upper int
		Certainty            string
		Known                bool
	}
	for body, want := range map[string]counted{
		`{"text":"Hello, world!","model":"gpt-4o"}`: {4, 13, 4, "exact", true},
		`{"text":"","model":"gpt-4o"}`:              {0, 0, 0, "exact", true},
	} {
		var got counted
		if c.want(http.StatusOK, &got, "POST", "/tokens", body); got != want {
			t.Errorf("%s: %+v", body, got)
		}
	}
	var got counted
	if c.want(http.StatusOK, &got, "POST", "/tokens", `{"text":"Hello, world!"}`); got.Known || got.Certainty != "estimated" || got.Upper <= got.Tokens {
		t.Errorf("%+v", got)
	}
	c.want(http.StatusBadRequest, nil, "POST", "/tokens", `{"text":"x","model":"a\u0000b"}`)
}

// To count is to read.
func TestTokensAreCountedForWhoReads(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{Guard: eng})
	for scope, status := range map[access.Scope]int{access.Read: http.StatusOK, access.Write: http.StatusForbidden} {
		scopes, err := access.ScopesOf(scope)
		if err != nil {
			t.Fatal(err)
		}
		secret, _, err := eng.CreateKey(t.Context(), string(scope), scopes)
		if err != nil {
			t.Fatal(err)
		}
		c.want(status, nil, "POST", "/tokens", `{"text":"Hello."}`, "Authorization", "Bearer "+secret)
	}
}
