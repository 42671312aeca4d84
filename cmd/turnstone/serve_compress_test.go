package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ramble appends turns that fill a prompt and hold nothing that a summary must.
func (s *served) ramble() {
	s.t.Helper()
	said := `{"role":"agent","text":"The bed by the wall gets more light in the morning, and the soil there holds water well, so that lavender and thyme should do nicely together."}`
	if status, answer := s.post("/api/v1/sessions/garden/turns", `{"turns":[`+strings.Repeat(said+",", 149)+said+`]}`); status != http.StatusCreated {
		s.t.Fatalf("append: %d %s", status, answer)
	}
}

// TestServeCompressionFlags: how turns leave prompts, snapshots and the follow-up context are set for a server.
func TestServeCompressionFlags(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, []byte("[serve]\nno-compression = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveProcess(t, filepath.Join(dir, "store.db"), "--config", file, "--url", "http://127.0.0.1:1", "--no-snapshots", "--follow-up-timeout", "1ns")
	defer s.end(os.Interrupt)
	s.post("/api/v1/sessions", `{"session_id":"garden","model":"gardener"}`)
	s.ramble()
	for path, off := range map[string]string{"compress": "compression is off", "snapshots": "snapshots are off"} {
		if status, answer := s.post("/api/v1/sessions/garden/"+path, "{}"); status != http.StatusConflict || !strings.Contains(answer, off) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if status, answer := s.post("/api/v1/context", `{"session":"garden","action":"store","last_intent":"plant","last_task_id":null,"pending_fields":[],"last_user_message":null}`); status != http.StatusOK {
		t.Errorf("store: %d %s", status, answer)
	}
	if status, answer := s.post("/api/v1/context", `{"session":"garden","action":"retrieve"}`); status != http.StatusOK || strings.Contains(answer, "plant") {
		t.Errorf("retrieve: %d %s", status, answer)
	}
}
