package main

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
)

func statusOf(size float64, passes int64, pins int) turnstone.Status {
	return turnstone.Status{
		Prompt: &prompt.Prompt{Model: "llama3.2:3b", Count: budget.Count{Tokens: 5234}, Window: budget.Window{Usable: 6963}},
		Passes: passes, Pins: pins, Reliability: budget.Rate(size, 0, 1),
	}
}

func TestStatusLine(t *testing.T) {
	for _, test := range []struct {
		status turnstone.Status
		icons  bool
		want   string
	}{
		{statusOf(13, 2, 3), true, "Context: 5,234/6,963 🟡 70% (2 compressions) · 3/3 pins"},
		{statusOf(13, 1, 0), false, "Context: 5,234/6,963 medium 70% (1 compression), 0/0 pins"},
		{statusOf(70, 0, 1), true, "Context: 5,234/6,963 🟢 95% (0 compressions) · 1/1 pins"},
		{statusOf(3, 0, 1), false, "Context: 5,234/6,963 critical 30% (0 compressions), 1/1 pins"},
	} {
		if got := statusLine(test.status, test.icons); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestReliabilityWarning(t *testing.T) {
	if got := reliabilityWarning(statusOf(13, 4, 0)); got != nil {
		t.Errorf("medium: got %q", got)
	}
	got := strings.Join(reliabilityWarning(statusOf(7, 3, 0)), "\n")
	const want = `Context Compression Warning
Your model (llama3.2:3b) has compressed the conversation 3 times.
Small models may lose context accuracy after multiple compressions.
Recommendations:
- Continue if you are making good progress.
- Use a larger model for complex long tasks.`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
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
