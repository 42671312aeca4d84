package server_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/server"
)

func TestDaemons(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	for _, path := range []string{"/daemons", "/dead-letters", "/daemons/indexer/dead-letters", "/deferrals"} {
		if got := c.want(http.StatusOK, nil, "GET", path, nil); got.body != "{\"items\":[]}\n" {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	done := committed(t, eng, "a", "Hello.", "Hello, Ann.")
	sub, err := eng.Subscribe(t.Context(), "indexer", func(context.Context, event.Message) (int, error) {
		return 0, bus.Reject(errors.New("no room"))
	}, bus.Options{From: bus.Beginning})
	if err != nil {
		t.Fatal(err)
	}
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	var letters struct {
		Items []struct {
			Daemon string `json:"daemon"`
			Export string `json:"export_id"`
			Error  string `json:"error"`
		} `json:"items"`
	}
	for len(letters.Items) == 0 && t.Context().Err() == nil { // until the daemon was told and its answer written down
		c.want(http.StatusOK, &letters, "GET", "/daemons/indexer/dead-letters", nil)
	}
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	if len(letters.Items) != 1 || letters.Items[0].Export != done.ExportID || letters.Items[0].Error == "" {
		t.Errorf("%+v", letters)
	}
	var daemons struct {
		Items []struct {
			Daemon string `json:"daemon"`
		} `json:"items"`
	}
	c.want(http.StatusOK, &daemons, "GET", "/daemons", nil)
	if len(daemons.Items) != 1 || daemons.Items[0].Daemon != "indexer" {
		t.Errorf("%+v", daemons)
	}
	c.want(http.StatusOK, &letters, "GET", "/daemons/other/dead-letters", nil)
	if len(letters.Items) != 0 {
		t.Errorf("%+v", letters)
	}
}
