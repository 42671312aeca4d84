package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func deployFile(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// knownLine holds a command line of turnstone against what the command takes.
func knownLine(t *testing.T, where string, words []string) {
	t.Helper()
	cmd, rest, err := (&app{}).rootCommand().Find(words)
	if err != nil || !cmd.Runnable() || cmd.HasSubCommands() {
		t.Errorf("%s: turnstone %v: no such command: %v", where, words, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: turnstone %v: %v", where, words, err)
	}
}

func TestUnitFile(t *testing.T) {
	unit := deployFile(t, "deploy", "turnstone.service")
	start := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/turnstone (.*)$`).FindStringSubmatch(unit)
	if start == nil {
		t.Fatal("it starts nothing")
	}
	knownLine(t, "turnstone.service", strings.Fields(start[1]))
	if !regexp.MustCompile(`(?m)^StateDirectory=turnstone$`).MatchString(unit) {
		t.Error("the store has no folder")
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	// The program need not be installed for the file to be right.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "turnstone.service")
	if err := os.WriteFile(copied, []byte(strings.Replace(unit, "/usr/local/bin/turnstone", self, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(analyze, "verify", "--man=no", copied).CombinedOutput()
	complaints := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(line string) bool {
		return line == "" || !strings.Contains(line, "turnstone.service")
	})
	if len(complaints) > 0 {
		t.Errorf("%v: %s", err, strings.Join(complaints, "\n"))
	}
}

func TestContainerfile(t *testing.T) {
	text := deployFile(t, "deploy", "Containerfile")
	last := regexp.MustCompile(`(?m)^CMD \[(.*)\]$`).FindStringSubmatch(text)
	if last == nil {
		t.Fatal("it runs nothing")
	}
	var words []string
	if err := yaml.Unmarshal([]byte("["+last[1]+"]"), &words); err != nil {
		t.Fatal(err)
	}
	knownLine(t, "Containerfile", words)
	if version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(deployFile(t, "go.mod")); version == nil || !strings.Contains(text, "golang:"+version[1]+" ") {
		t.Errorf("it is not built with the Go of go.mod, %v", version)
	}
}

func TestCompose(t *testing.T) {
	text := deployFile(t, "deploy", "compose.yaml")
	var file struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]string
			Build       struct{ Context, Dockerfile string }
			Deploy      struct{ Replicas int }
			Volumes     []string
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"postgres", "nats", "turnstone", "balancer"} {
		if file.Services[name].Image == "" {
			t.Errorf("there is no service %s", name)
		}
	}
	ours := file.Services["turnstone"]
	if ours.Deploy.Replicas != 3 {
		t.Errorf("%d replicas", ours.Deploy.Replicas)
	}
	knownLine(t, "compose.yaml", ours.Command)
	if _, err := os.Stat(filepath.Join("..", "..", "deploy", ours.Build.Context, ours.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	help := environmentTopic().Long
	for name := range ours.Environment {
		if !strings.Contains(help, name) {
			t.Errorf("%s is no variable that turnstone reads", name)
		}
	}
	if !strings.HasPrefix(ours.Environment[envStore], "postgres://") || !strings.HasPrefix(ours.Environment[envBus], "nats://") {
		t.Errorf("environment: %v", ours.Environment)
	}
	for service, s := range file.Services {
		for _, volume := range s.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			_, named := file.Volumes[from]
			if _, err := os.Stat(filepath.Join("..", "..", "deploy", from)); !named && err != nil {
				t.Errorf("%s: %s is neither a volume nor a file", service, from)
			}
		}
	}
	if !slices.Contains(file.Services["nats"].Command, "--jetstream") {
		t.Error("NATS keeps nothing without JetStream")
	}
	for _, line := range regexp.MustCompile(`(?m)run --rm turnstone (.*)$`).FindAllStringSubmatch(text+deployFile(t, "docs", "deploy.md"), -1) {
		knownLine(t, "deploy.md", strings.Fields(line[1]))
	}
}

func TestDeployDocument(t *testing.T) {
	text := deployFile(t, "docs", "deploy.md")
	if made, used := strings.Index(text, "\ninstall -d -m 700 /etc/turnstone\n"), strings.Index(text, ">>/etc/turnstone/"); made < 0 || made > used {
		t.Error("settings are written into a folder that nobody made")
	}
	serve, _, err := (&app{}).rootCommand().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(text, -1) {
		if serve.Flag(flag[1]) == nil {
			t.Errorf("turnstone serve has no --%s", flag[1])
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("..", "..", "docs", link[1])); err != nil {
			t.Error(err)
		}
	}
}
