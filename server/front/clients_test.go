package front_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/server/front"
)

// obliging answers as the last message asks it to, for as many clients as there are.
func obliging(t *testing.T, kind front.Kind) *scripted {
	s := newScripted(t, kind)
	s.oblige = func(a *asked) answer {
		if strings.HasSuffix(a.path, "/tags") {
			return answer{status: 200, body: `{"models":[{"name":"m","model":"m","modified_at":"2026-01-02T03:04:05Z","size":1,"digest":"d","details":{}}]}`}
		}
		if strings.HasSuffix(a.path, "/models") {
			return answer{status: 200, body: `{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"us"}]}`}
		}
		last := a.body.Messages[len(a.body.Messages)-1]
		if last.Role == "tool" {
			return says("the tool said " + last.Content.(string))
		}
		switch last.Content {
		case "use the tool":
			return answer{dies: -1, calls: []called{{"call_1", "weather", `{"city":"Oslo"}`}}}
		case "talk on and on":
			gate := make(chan struct{}, 1)
			gate <- struct{}{}
			return answer{text: "on and on", dies: -1, gate: gate}
		case "fail":
			return answer{status: 400, body: `{"error":"told to fail"}`}
		}
		return says("hello to you")
	}
	return s
}

// TestRealClients has clients talk to the front that others made: chat, streams, tools, a stream that is cut off, lists of
// models.
func TestRealClients(t *testing.T) {
	for name, command := range map[string]func(url string) *exec.Cmd{
		"Go": func(url string) *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), "go", "run", ".", url)
			cmd.Dir = "clients"
			return cmd
		},
		"npm": func(url string) *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), "node", "clients.mjs", url)
			cmd.Dir = "testdata/npm"
			return cmd
		},
	} {
		for _, kind := range []front.Kind{front.Ollama, front.OpenAI} {
			t.Run(name+" to "+string(kind), func(t *testing.T) {
				if _, err := os.Stat("testdata/npm/node_modules"); err != nil && name == "npm" {
					if os.Getenv("CI") == "true" {
						t.Fatal("run scripts/deps first: ", err)
					}
					t.Skip("run scripts/deps first: ", err)
				}
				if testing.Short() {
					t.Skip("it builds other people's programs")
				}
				w := newWorld(t, obliging(t, kind))
				cmd := command(w.url)
				if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "content\n") {
					t.Fatalf("%v: %s", err, out)
				}
				for _, id := range w.sessions() {
					if log := w.log(id); len(log) > 2 && !slices.Contains(log, "agent: the tool said cold") {
						t.Errorf("session %s: %q", id, log)
					}
				}
			})
		}
	}
}
