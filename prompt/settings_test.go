package prompt_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestSettingsThatAreWrongNameTheField(t *testing.T) {
	large := strings.Repeat("x", prompt.MaxSystem+1)
	tool := func(edit func(*prompt.Definition)) prompt.Settings {
		d := prompt.Definition{Name: "search", Description: "Finds.", Schema: "{}"}
		edit(&d)
		return prompt.Settings{Tools: []prompt.Definition{{Name: "other", Schema: " {}"}, d}}
	}
	many := make([]string, prompt.MaxDefinitions+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, tt := range []struct {
		settings prompt.Settings
		want     string
	}{
		{prompt.Settings{System: large}, "prompt.system"},
		{prompt.Settings{System: "\xff"}, "prompt.system"},
		{prompt.Settings{Mandates: []string{"a", " "}}, "prompt.mandates[1]"},
		{prompt.Settings{Mandates: []string{"a", "b", "a"}}, "prompt.mandates[2]"},
		{prompt.Settings{Mandates: many}, "prompt.mandates"},
		{prompt.Settings{Checks: []string{large}}, "prompt.checks[0]"},
		{prompt.Settings{Skills: []prompt.Material{{Text: "x"}}}, "prompt.skills[0].name"},
		{prompt.Settings{Skills: []prompt.Material{{Name: "a\nb"}}}, "prompt.skills[0].name"},
		{prompt.Settings{Sticky: []prompt.Material{{Name: "a", Text: "\x00"}}}, "prompt.sticky[0].text"},
		{prompt.Settings{Sticky: []prompt.Material{{Name: "a"}, {Name: "a"}}}, "prompt.sticky[1]"},
		{prompt.Settings{Sticky: []prompt.Material{{Name: strings.Repeat("n", prompt.MaxName+1)}}}, "prompt.sticky[0].name"},
		{tool(func(d *prompt.Definition) { d.Name = "" }), "prompt.tools[1].name"},
		{tool(func(d *prompt.Definition) { d.Description = large }), "prompt.tools[1].description"},
		{tool(func(d *prompt.Definition) { d.Schema = "" }), "prompt.tools[1].schema"},
		{tool(func(d *prompt.Definition) { d.Schema = "[]" }), "prompt.tools[1].schema"},
		{tool(func(d *prompt.Definition) { d.Schema = "{" }), "prompt.tools[1].schema"},
		{tool(func(d *prompt.Definition) { d.Schema = large }), "prompt.tools[1].schema"},
		{tool(func(d *prompt.Definition) { d.Name = "other" }), "prompt.tools[1]"},
	} {
		_, err := tt.settings.Seal()
		var field *invalid.Field
		if !errors.As(err, &field) || field.Name != tt.want || field.Fix == "" {
			t.Errorf("%.80v, want %s", err, tt.want)
		}
	}
}

func fullSettings() prompt.Settings {
	return prompt.Settings{
		System: "Be brief.", Mandates: []string{"Do no harm."}, Checks: []string{"Is it true?"},
		Skills: []prompt.Material{{Name: "Count", Text: "One, two."}},
		Sticky: []prompt.Material{{Name: "a.md", Text: "alpha"}, {Name: "b.md", Text: "beta"}, {Name: "empty.md"}},
		Tools:  []prompt.Definition{{Name: "search", Description: "Finds.", Schema: "{}"}},
	}
}

func TestSettingsComeBackFromTheirMaterials(t *testing.T) {
	w := newWorld(t, 2048)
	for _, s := range []prompt.Settings{{}, {System: "x"}, fullSettings()} {
		sealed := seal(t, s)
		var back prompt.Sealed
		w.update(func(tx store.Tx) (err error) {
			if err := sealed.Put(t.Context(), tx.Prompt(), w.key.Tenant, tx.Now()); err != nil {
				return err
			}
			back, err = prompt.LoadSettings(t.Context(), tx.Prompt(), w.key.Tenant, sealed.SHA256)
			return err
		})
		if diff := cmp.Diff(sealed, back); diff != "" {
			t.Error(diff)
		}
	}
	empty, full := prompt.Settings{}, fullSettings()
	if !empty.Clean() || full.Clean() {
		t.Error("Clean is for settings without anything")
	}
}

func TestAFileThatChangesStoresNothingElseAgain(t *testing.T) {
	was := seal(t, fullSettings())
	changed := fullSettings()
	changed.Sticky[1].Text = "beta, changed"
	is := seal(t, changed)
	maps.DeleteFunc(is.Materials, func(sum, _ string) bool { return was.Materials[sum] != "" })
	var texts []string
	for sum, text := range is.Materials {
		if sum != is.SHA256 {
			texts = append(texts, text)
		}
	}
	wantLines(t, texts, "beta, changed")
	if len(is.Materials) != 2 || was.SHA256 == is.SHA256 {
		t.Errorf("%v", is.Materials)
	}
}

func TestSettingsAreNamedByAllTheirContent(t *testing.T) {
	sums := map[string]bool{seal(t, fullSettings()).SHA256: true}
	for _, edit := range []func(*prompt.Settings){
		func(s *prompt.Settings) { s.System = "" },
		func(s *prompt.Settings) { s.Mandates[0] += "!" },
		func(s *prompt.Settings) { s.Checks = nil },
		func(s *prompt.Settings) { s.Skills[0].Name = "c" },
		func(s *prompt.Settings) { s.Skills[0].Text = "c" },
		func(s *prompt.Settings) { s.Sticky[0], s.Sticky[1] = s.Sticky[1], s.Sticky[0] },
		func(s *prompt.Settings) { s.Tools[0].Name = "find" },
		func(s *prompt.Settings) { s.Tools[0].Description = "" },
		func(s *prompt.Settings) { s.Tools[0].Schema = "{ }" },
	} {
		s := fullSettings()
		edit(&s)
		sealed := seal(t, s)
		if sums[sealed.SHA256] {
			t.Errorf("%+v has the hash of others", s)
		}
		sums[sealed.SHA256] = true
		if again := seal(t, s); again.SHA256 != sealed.SHA256 {
			t.Error("sealed again it has another hash")
		}
	}
}

func TestOtherSettingsOpenAnEpoch(t *testing.T) {
	w := newWorld(t, 4096)
	w.request.Default = seal(t, prompt.Settings{System: "By default."})
	w.append(user("go"))
	wantLines(t, said(w.compile()), "system: By default.", "user: go")
	w.begin(prompt.Settings{System: "Otherwise."})
	p := w.compile()
	wantLines(t, said(p), "system: Otherwise.", "user: go")
	if p.Opened != prompt.ReasonSettings || p.Epoch != 2 || p.Passes != 0 || p.Settings != w.request.Settings.SHA256 {
		t.Errorf("%+v", p)
	}
	w.begin(prompt.Settings{System: "Otherwise."})
	if p := w.compile(); p.Opened != "" || p.Epoch != 2 {
		t.Errorf("the same settings opened %q", p.Opened)
	}
	// Without any, what the one before began with stays, whatever the default is by now.
	w.request.Settings, w.request.Default = nil, seal(t, prompt.Settings{System: "Another default."})
	w.earlier = nil
	w.append(agent("gone"))
	p = w.compile()
	wantLines(t, said(p), "system: Otherwise.", "user: go", "assistant: gone")
	if p.Opened != "" {
		t.Errorf("opened %q", p.Opened)
	}
	// It stays when an epoch is opened for another reason, too.
	w.request.Goal = fullGoal()
	if p := w.compile(); p.Opened != prompt.ReasonGoal || !strings.HasPrefix(said(p)[0], "system: Otherwise.\n\n# Active goal") {
		t.Errorf("%q %v", p.Opened, said(p))
	}
}

func TestSettingsThatAreNotThereAreAnError(t *testing.T) {
	w := newWorld(t, 2048)
	w.begin(fullSettings())
	w.compile()
	for _, tt := range []struct {
		name     string
		material func(string) string
	}{
		{"the settings", func(s string) string { return strings.Replace(s, `{"system"`, `["system"`, 1) }},
		{"the tools", func(s string) string { return strings.Replace(s, `{"tools"`, `["tools"`, 1) }},
	} {
		w.faults.material = tt.material
		err := w.view(func(tx store.Tx, _ turn.SessionInfo) error {
			_, err := prompt.LoadSettings(t.Context(), w.faults.prompts(tx.Prompt()), w.key.Tenant, w.request.Settings.SHA256)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "prompt settings "+w.request.Settings.SHA256) {
			t.Errorf("%s altered: %v", tt.name, err)
		}
	}
	w.faults.material = nil
	err := w.view(func(tx store.Tx, _ turn.SessionInfo) error {
		_, err := prompt.LoadSettings(t.Context(), tx.Prompt(), "nobody", w.request.Settings.SHA256)
		return err
	})
	if !errors.Is(err, prompt.ErrNotFound) {
		t.Error(err)
	}
}
