package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

// talker is a model server that says what a file has: replies, parted by lines of ---. A line "!call NAME JSON" calls
// a tool, "!die" breaks the connection, "!hang" keeps it open for ever, and all others are said, a piece each. A reply "!missing"
// is that there is no such model.
type talker struct {
	file    string     // takes the bodies of requests, one a line; none if it is empty
	mu      sync.Mutex // guards what follows
	replies []string
	asked   string
}

// startTalker runs a server for the script and names it in the environment: talker replies.txt
func startTalker(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: talker file")
	}
	t := &talker{replies: strings.Split(ts.ReadFile(args[0]), "---\n"), file: ts.MkAbs("asked.jsonl")}
	server := httptest.NewServer(t.handler())
	ts.Setenv(envURL, server.URL)
	ts.Defer(server.Close)
}

func (t *talker) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"models": []map[string]any{{"name": "small:latest", "digest": tinyDigest}, {"name": "other:latest", "digest": strings.Repeat("b", 64)}}})
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"details": map[string]any{"family": "llama"}, "model_info": tinyInfo()})
	})
	mux.HandleFunc("POST /api/chat", func(w http.ResponseWriter, r *http.Request) {
		if reply := t.next(w, r); reply != nil {
			llmtest.Speak(w, r, ollamaLines(reply)...)
		}
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if reply := t.next(w, r); reply != nil {
			w.Header().Set("Content-Type", "text/event-stream")
			llmtest.Speak(w, r, openAILines(reply)...)
		}
	})
	return mux
}

func answer(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// next is the reply to a request, in lines; nil where it was refused.
func (t *talker) next(w http.ResponseWriter, r *http.Request) []string {
	body, err := io.ReadAll(r.Body)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil || len(t.replies) == 0 {
		http.Error(w, `{"error":"nothing is left to say"}`, http.StatusBadRequest)
		panic(http.ErrAbortHandler)
	}
	t.asked += string(body) + "\n"
	if t.file != "" {
		if err := os.WriteFile(t.file, []byte(t.asked), 0o600); err != nil {
			panic(err)
		}
	}
	reply := t.replies[0]
	t.replies = t.replies[1:]
	if strings.TrimSpace(reply) == "!missing" {
		http.Error(w, `{"error":{"message":"model not found"}}`, http.StatusNotFound)
		return nil
	}
	var lines int
	if n, _ := fmt.Sscanf(reply, "!lines %d", &lines); n == 1 {
		reply = ""
		for i := range lines {
			reply += fmt.Sprintf("Line %d of the answer says that parcel %d left warehouse %d.\n", i+1, 7*i+1000, i%13)
		}
	}
	return strings.SplitAfter(strings.TrimSuffix(reply, "\n"), "\n")
}

func ollamaLines(reply []string) (lines []string) {
	for _, piece := range reply {
		if end := strings.TrimSpace(piece); end == "!die" || end == "!hang" {
			return append(lines, end)
		}
		message := map[string]any{"role": "assistant", "content": piece}
		if call, found := strings.CutPrefix(strings.TrimSpace(piece), "!call "); found {
			name, arguments, _ := strings.Cut(call, " ")
			message["content"] = ""
			message["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": name, "arguments": json.RawMessage(arguments)}}}
		}
		lines = append(lines, encoded(map[string]any{"model": "small", "message": message, "done": false}))
	}
	return append(lines, encoded(map[string]any{
		"model": "small", "message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
		"prompt_eval_count": 20, "eval_count": len(reply),
	}))
}

func openAILines(reply []string) (lines []string) {
	chunk := func(delta map[string]any, finish any) {
		lines = append(lines, "data: "+encoded(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}), "")
	}
	for _, piece := range reply {
		chunk(map[string]any{"content": piece}, nil)
	}
	chunk(map[string]any{}, "stop")
	return append(lines, "data: [DONE]", "")
}

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return string(text)
}
