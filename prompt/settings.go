package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
)

// Bounds of what a prompt may begin with. The window is smaller; these keep a mistake from being stored.
const (
	MaxSystem      = 1 << 20 // bytes of any one text
	MaxName        = 512     // bytes of a name
	MaxDefinitions = 512     // of mandates, skills, checks, files and tools each
)

// Settings are what a prompt begins with, whatever was said. They are never compressed and never cut.
type Settings struct {
	// System is the system prompt.
	System string
	// Mandates are rules that the model must keep.
	Mandates []string
	// Skills are what the model knows how to do.
	Skills []Material
	// Checks are what the model is to make sure of before it answers.
	Checks []string
	// Sticky are files that stay in the prompt. Giving another text for one opens a new epoch.
	Sticky []Material
	// Tools are what the model may call.
	Tools []Definition
}

// Material is a text with a name.
type Material struct{ Name, Text string }

// Check reports what is wrong with the settings as an error that names the field.
func (s *Settings) Check() error {
	if err := record.CheckText("system", s.System, MaxSystem); err != nil {
		return err
	}
	for _, list := range []struct {
		field string
		texts []string
	}{{"mandates", s.Mandates}, {"checks", s.Checks}} {
		err := record.CheckList(list.field, list.texts, MaxDefinitions, func(s string) string { return s },
			func(s string) error { return checkText("", s) })
		if err != nil {
			return err
		}
	}
	for _, list := range []struct {
		field     string
		materials []Material
	}{{"skills", s.Skills}, {"sticky", s.Sticky}} {
		if err := record.CheckList(list.field, list.materials, MaxDefinitions, func(m Material) string { return m.Name }, Material.check); err != nil {
			return err
		}
	}
	return record.CheckList("tools", s.Tools, MaxDefinitions, func(d Definition) string { return d.Name }, Definition.check)
}

func (m Material) check() error {
	if err := record.CheckLine("name", m.Name, MaxName); err != nil {
		return err
	}
	return record.CheckText("text", m.Text, MaxSystem)
}

func (d Definition) check() error {
	if err := record.CheckLine("name", d.Name, MaxName); err != nil {
		return err
	}
	if err := record.CheckText("description", d.Description, MaxSystem); err != nil {
		return err
	}
	if err := checkText("schema", d.Schema); err != nil {
		return err
	}
	if !json.Valid([]byte(d.Schema)) || !strings.HasPrefix(strings.TrimSpace(d.Schema), "{") {
		return invalid.New("schema", "is not a JSON object", "give the JSON Schema of the tool's arguments")
	}
	return nil
}

func checkText(field, text string) error {
	if strings.TrimSpace(text) == "" {
		return invalid.New(field, "is empty", "give a text or leave it out")
	}
	return record.CheckText(field, text, MaxSystem)
}

// Clean reports whether nothing was set.
func (s *Settings) Clean() bool {
	return s.System == "" && len(s.Mandates)+len(s.Skills)+len(s.Checks)+len(s.Sticky)+len(s.Tools) == 0
}

// stored is how settings are kept: their texts of any length are materials of their own, so that a file
// that changes does not store the others again.
type stored struct {
	System   string // hash
	Mandates []string
	Skills   []Material // Text is the hash
	Checks   []string
	Sticky   []Material
	Tools    string // hash of the definitions, JSON
}

var materialFields = record.Fields[Material]{
	record.Value("name", func(m *Material) *string { return &m.Name }, record.Text[string]()),
	record.Value("sha256", func(m *Material) *string { return &m.Text }, record.Text[string]()),
}

var storedFields = record.Fields[stored]{
	record.Value("system", func(s *stored) *string { return &s.System }, record.Text[string]()),
	record.List("mandates", func(s *stored) *[]string { return &s.Mandates }, record.Text[string]()),
	record.List("skills", func(s *stored) *[]Material { return &s.Skills }, record.Of(materialFields)),
	record.List("checks", func(s *stored) *[]string { return &s.Checks }, record.Text[string]()),
	record.List("sticky", func(s *stored) *[]Material { return &s.Sticky }, record.Of(materialFields)),
	record.Value("tools", func(s *stored) *string { return &s.Tools }, record.Text[string]()),
}

type toolList struct{ Tools []Definition }

var definitionFields = record.Fields[Definition]{
	record.Value("name", func(d *Definition) *string { return &d.Name }, record.Text[string]()),
	record.Value("description", func(d *Definition) *string { return &d.Description }, record.Text[string]()),
	record.Value("schema", func(d *Definition) *string { return &d.Schema }, record.Text[string]()),
}

var toolFields = record.Fields[toolList]{
	record.List("tools", func(l *toolList) *[]Definition { return &l.Tools }, record.Of(definitionFields)),
}

// Sealed are settings with the hash that names them and everything that must be stored for it.
type Sealed struct {
	Settings
	SHA256    string
	Materials map[string]string // by hash; the settings themselves among them
}

// Seal checks settings and names them by their content.
func (s Settings) Seal() (Sealed, error) {
	if err := s.Check(); err != nil {
		return Sealed{}, record.Within("prompt", err)
	}
	sealed := Sealed{Settings: s, Materials: make(map[string]string)}
	keep := func(text string) string {
		if text == "" {
			return ""
		}
		sum := sumOf(text)
		sealed.Materials[sum] = text
		return sum
	}
	keepAll := func(materials []Material) []Material {
		var kept []Material
		for _, m := range materials {
			kept = append(kept, Material{m.Name, keep(m.Text)})
		}
		return kept
	}
	doc := stored{
		System: keep(s.System), Mandates: s.Mandates, Checks: s.Checks,
		Skills: keepAll(s.Skills), Sticky: keepAll(s.Sticky),
	}
	if len(s.Tools) > 0 {
		doc.Tools = keep(string(toolFields.Append(nil, &toolList{s.Tools})))
	}
	sealed.SHA256 = keep(string(storedFields.Append(nil, &doc)))
	return sealed, nil
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
