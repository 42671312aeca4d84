package main

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	service "github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/turn"
)

func statusOf(size float64, passes int64, pins int) turnstone.Status {
	return turnstone.Status{
		Prompt: &prompt.Prompt{Model: "llama3.2:3b", Count: budget.Count{Tokens: 5234}, Window: budget.Window{Usable: 6963}},
		Passes: passes, Pins: pins, PinsHeld: pins, Reliability: budget.Rate(size, 0, 1),
	}
}

func whole(s turnstone.Status) turnstone.Status {
	s.Whole = true
	return s
}

func missing(s turnstone.Status, pins int) turnstone.Status {
	s.PinsHeld -= pins
	return s
}

func named(s turnstone.Status, facts int) turnstone.Status {
	s.FactsNamed = facts
	return s
}

func measured(s turnstone.Status, held, facts int) turnstone.Status {
	s.FactsHeld, s.Facts = held, facts
	return s
}

func TestStatusLine(t *testing.T) {
	for _, test := range []struct {
		status turnstone.Status
		icons  bool
		want   string
	}{
		{statusOf(13, 2, 3), true, "Context: 5,234/6,963 🟡 70% (2 compressions) · 3/3 pins"},
		{missing(statusOf(13, 2, 3), 2), true, "Context: 5,234/6,963 🟡 70% (2 compressions) · 1/3 pins"},
		{statusOf(13, 1, 0), false, "Context: 5,234/6,963 medium 70% (1 compression), 0/0 pins"},
		{statusOf(70, 0, 1), true, "Context: 5,234/6,963 🟢 95% (0 compressions) · 1/1 pins"},
		{named(measured(statusOf(13, 2, 3), 1061, 1064), 12), false, "Context: 5,234/6,963 medium 70% (2 compressions), 3/3 pins, 1,061/1,064 facts, 12 of them only named"},
		{measured(statusOf(13, 2, 3), 1061, 1064), true, "Context: 5,234/6,963 🟡 70% (2 compressions) · 3/3 pins, 1,061/1,064 facts"},
		{statusOf(3, 1, 1), false, "Context: 5,234/6,963 critical 30% (1 compression), 1/1 pins"},
		{whole(statusOf(3, 0, 1)), false, "Context: 5,234/6,963 whole, model rated 30% (0 compressions), 1/1 pins"},
		{whole(statusOf(7, 0, 1)), true, "Context: 5,234/6,963 ⚪ whole, model rated 50% (0 compressions) · 1/1 pins"},
		{whole(statusOf(13, 0, 1)), true, "Context: 5,234/6,963 🟡 70% (0 compressions) · 1/1 pins"},
	} {
		if got := statusLine(test.status, budget.Profile{Size: 3}, test.icons); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Of a model whose size nobody knows nothing is lost either, and what it is taken for is no finding.
func TestStatusLineOfAModelOfUnknownSize(t *testing.T) {
	for status, want := range map[*turnstone.Status]string{
		new(whole(statusOf(0, 0, 1))): "Context: 5,234/6,963 whole, model of unknown size (0 compressions), 1/1 pins",
		new(whole(statusOf(0, 1, 1))): "Context: 5,234/6,963 whole, model of unknown size (1 compression), 1/1 pins",
		new(statusOf(0, 1, 1)):        "Context: 5,234/6,963 critical 30% (1 compression), 1/1 pins",
	} {
		if got := statusLine(*status, budget.Profile{Provider: budget.Ollama}, false); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWarning(t *testing.T) {
	local := budget.Profile{Provider: budget.Ollama, Context: 4096}
	hosted := budget.Profile{Provider: budget.OpenAI, Context: 8192}
	for _, test := range []struct {
		name    string
		by      []string
		passes  int64
		left    int64
		level   budget.Level
		profile budget.Profile
		size    float64
		known   bool
		want    string
	}{
		{name: "never compressed", level: budget.Critical, profile: local, size: 3, known: true},
		{name: "everything is shown again", passes: 2, level: budget.Critical, profile: local, size: 3, known: true},
		{name: "medium", passes: 2, left: 1, level: budget.Medium, profile: local, size: 3, known: true},
		{
			name: "small", by: []string{"gemma3:1b"}, passes: 3, left: 1, level: budget.Low, profile: local, size: 7, known: true,
			want: `Context Compression Warning
Your model (gemma3:1b) has compressed the conversation 3 times.
Small models may lose context accuracy after multiple compressions.
Recommendations:
- Continue if you are making good progress.
- Start a new conversation if the model makes things up.
- Use a larger model for complex long tasks.`,
		}, {
			name: "large", by: []string{"gemma3:1b", "phi4"}, passes: 1, left: 1, level: budget.Critical, profile: local, size: 13, known: true,
			want: `Context Compression Warning
Your model (gemma3:1b, phi4) has compressed the conversation once.
Recommendations:
- Start a new conversation.
- Review the important decisions and pin them.
- Take a snapshot before you continue.`,
		}, {
			name: "hosted, of a size that nobody tells", passes: 1, left: 1, level: budget.Low, profile: hosted, known: true,
			want: `Context Compression Warning
The conversation was compressed once.
Recommendations:
- Continue if you are making good progress.
- Start a new conversation if the model makes things up.
- Use a larger context with --context: it may have up to 8,192 tokens.`,
		}, {
			name: "nobody has heard of it", passes: 1, left: 1, level: budget.Low, profile: budget.Profile{Context: 8192},
			want: `Context Compression Warning
The conversation was compressed once.
Small models may lose context accuracy after a compression.
Recommendations:
- Continue if you are making good progress.
- Start a new conversation if the model makes things up.`,
		},
	} {
		status := statusOf(3, test.passes, 0)
		status.Reliability.Level = test.level
		status.Prompt.Summarisers = test.by
		status.Prompt.Window.Context = 4096
		status.Prompt.Path, status.Prompt.From = []turn.Range{{From: 1}}, 1+test.left
		test.profile.Size = test.size
		advice := service.Advice(status, test.profile, test.known, "--context")
		warning := warningOf(status, test.profile, advice)
		if got := strings.Join(warning, "\n"); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
		_, list, _ := strings.Cut(test.want, "Recommendations:\n- ")
		if got := strings.Join(advice, "\n- "); got != list {
			t.Errorf("%s: advice is\n%s\nwant\n%s", test.name, got, list)
		}
	}
}

func TestUnicodeLocale(t *testing.T) {
	for _, test := range []struct {
		goos string
		env  map[string]string
		want bool
	}{
		{"linux", nil, false},
		{"linux", map[string]string{"LANG": "en_US.UTF-8"}, true},
		{"linux", map[string]string{"LANG": "C.utf8"}, true},
		{"linux", map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, false},
		{"linux", map[string]string{"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, true},
		{"darwin", nil, true},
		{"darwin", map[string]string{"LANG": "C"}, false},
		{"windows", map[string]string{"LANG": "en_US.UTF-8"}, false},
		{"windows", map[string]string{"WT_SESSION": "1"}, true},
	} {
		if got := unicodeLocale(test.goos, func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%s %v: got %v", test.goos, test.env, got)
		}
	}
}
