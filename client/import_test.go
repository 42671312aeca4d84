package client_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

// A conversation of another program comes in, goes on with a picture and settings of its own, and what was counted is reported.
func TestAHistoryGoesOn(t *testing.T) {
	script := llmtest.NewScript("A dot.")
	w, ctx := start(t, turnstone.Config{Model: script, ModelName: "gpt-4o"}, server.Config{}), t.Context()
	const file = `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello."},{"role":"assistant","content":"Hi."}]}`
	s, made, err := w.ImportHistory(ctx, strings.NewReader(file), client.HistoryImport{ID: "s", About: client.About{User: "ann"}})
	if err != nil || s.ID() != "s" || made.Turns != 3 || made.User != "ann" || made.Format != "openai" || len(made.Pinned) != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, _, err := w.ImportHistory(ctx, strings.NewReader(file), client.HistoryImport{ID: "s"}); !errors.Is(err, client.Conflict) {
		t.Errorf("imported twice: %v", err)
	}
	reply, err := s.Say(ctx, client.Say{
		Text: "What is it?", Settings: &client.Settings{System: "Describe pictures."},
		Parts: []client.Said{{Form: "image", Content: json.RawMessage(`{"media_type":"image/png","data":"ZG90"}`)}},
	})
	if err != nil || reply.Text != "A dot." {
		t.Fatalf("%+v, %v", reply, err)
	}
	sent := script.Asked()[0].Messages
	if last := sent[len(sent)-1]; !strings.Contains(sent[0].Text, "Describe pictures.") || len(last.Images) != 1 || string(last.Images[0].Data) != "dot" {
		t.Errorf("%+v", sent)
	}
	p, err := s.Prompt(ctx, client.PromptOptions{Model: "gpt-4o"})
	if err != nil {
		t.Fatal(err)
	}
	came, err := s.Report(ctx, client.Usage{PromptTokens: p.Account.Tokens, At: p.End, SHA256: p.SHA256})
	if err != nil || came.Sent != p.Account.Tokens || came.Truncated {
		t.Errorf("%+v, %v", came, err)
	}
	if status, err := s.Status(ctx, client.StatusOptions{Model: "gpt-4o", Context: 8192}); err != nil || !status.Whole || status.Account.Context != 8192 || status.Reliability.Advice != nil {
		t.Errorf("%+v, %v", status, err)
	}
	models, err := w.Models(ctx)
	if err != nil || len(models) < 10 {
		t.Errorf("%+v, %v", models, err)
	}
	if n, err := w.Count(ctx, "gpt-4o", "Hello, world!"); err != nil || n.Tokens != 4 || !n.Known {
		t.Errorf("%+v, %v", n, err)
	}
}
