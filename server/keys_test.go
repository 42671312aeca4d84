package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/server"
)

// A key that is made over HTTP opens what it says until it is revoked, and its secret is told once.
func TestKeys(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	first, _, err := eng.CreateKey(t.Context(), "first", access.Everything())
	if err != nil {
		t.Fatal(err)
	}
	c := serve(t, eng, server.Config{Guard: eng})
	admin := []string{"Authorization", "Bearer " + first}
	var made struct {
		ID     string   `json:"id"`
		Secret string   `json:"secret"`
		Scopes []string `json:"scopes"`
	}
	c.want(http.StatusCreated, &made, "POST", "/keys", map[string]any{"name": "phone", "scopes": []string{"read"}}, admin...)
	c.want(http.StatusOK, nil, "GET", "/sessions", nil, "Authorization", "Bearer "+made.Secret)
	for _, path := range []string{"/keys", "/daemons"} {
		c.want(http.StatusForbidden, nil, "GET", path, nil, "Authorization", "Bearer "+made.Secret)
	}
	listed := c.want(http.StatusOK, nil, "GET", "/keys", nil, admin...)
	if !strings.Contains(listed.body, made.ID) || strings.Contains(listed.body, made.Secret) || strings.Contains(listed.body, "secret") || strings.Contains(listed.body, "revoked_at") {
		t.Errorf("%s", listed.body)
	}
	for range 2 {
		c.want(http.StatusNoContent, nil, "DELETE", "/keys/"+made.ID, nil, admin...)
	}
	c.want(http.StatusUnauthorized, nil, "GET", "/sessions", nil, "Authorization", "Bearer "+made.Secret)
	if listed := c.want(http.StatusOK, nil, "GET", "/keys", nil, admin...); !strings.Contains(listed.body, "revoked_at") {
		t.Errorf("%s", listed.body)
	}
	c.want(http.StatusNotFound, nil, "DELETE", "/keys/none", nil, admin...)
	for _, body := range []any{map[string]any{}, map[string]any{"scopes": []string{}}, map[string]any{"scopes": []string{"root"}}, map[string]any{"scopes": []string{"read"}, "name": "a\nb"}} {
		c.want(http.StatusBadRequest, nil, "POST", "/keys", body, admin...)
	}
}
