package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/prompt"
)

// maxMaterial is how many bytes a text may have that prompts begin with: what fits a line however it is
// escaped.
const maxMaterial = 8 << 20

// Material is a text that prompts begin with, or the settings that name such texts, under its hash.
type Material struct{ SHA256, Text string }

// material is what a reader remembers of one.
type material struct {
	tools bool // it is a list of tools
	long  bool // it is longer than any text but such a list
	used  bool
}

func appendMaterial(dst []byte, m *Material) []byte {
	dst = append(dst, `{"material":{"sha256":`...)
	dst = strictjson.AppendString(dst, m.SHA256)
	return append(appendText(dst, "text", m.Text), '}')
}

func decodeMaterial(value string) (*Material, error) {
	var m Material
	return &m, decodeMembers(value, textMember("sha256", &m.SHA256), textMember("text", &m.Text))
}

func appendSettings(dst []byte, m *Material) []byte {
	dst = append(dst, `{"settings":{"sha256":`...)
	dst = strictjson.AppendString(dst, m.SHA256)
	return append(appendRaw(dst, "doc", m.Text), '}')
}

func decodeSettings(value string) (*Material, error) {
	var m Material
	return &m, decodeMembers(value, textMember("sha256", &m.SHA256), rawMember("doc", &m.Text))
}

// sound holds a material, whose text stands under the name, against its hash.
func (m *Material) sound(name string) error {
	if m.Text == "" {
		return missing(name)
	}
	if err := record.CheckText(name, m.Text, maxMaterial); err != nil {
		return err
	}
	if sum := sha256.Sum256([]byte(m.Text)); m.SHA256 != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("sha256: the sum of its bytes is %x", sum)
	}
	return nil
}

// material checks the next text.
func (c *checker) material(m *Material) error {
	wrong := func(err error) error { return fmt.Errorf("material %.64s: %w", m.SHA256, err) }
	if err := c.nextMaterial(m, c.text, len(c.materials)); err != nil {
		return wrong(err)
	}
	var seen material
	if !c.trusted {
		if err := m.sound("text"); err != nil {
			return wrong(err)
		}
		seen = material{tools: prompt.CheckTools(m.Text) == nil, long: len(m.Text) > prompt.MaxSystem}
	}
	// Cloned: the hash is a piece of the line, which would stay with it.
	c.text = strings.Clone(m.SHA256)
	c.materials[c.text] = seen
	return nil
}

// nextMaterial checks the order, and that there is room for one more.
func (c *checker) nextMaterial(m *Material, last string, have int) error {
	if m.SHA256 == "" {
		return missing("sha256")
	}
	if m.SHA256 <= last {
		return fmt.Errorf("stands after %s", last)
	}
	if have == c.bounds.materials {
		return fmt.Errorf("more than %d of its kind", c.bounds.materials)
	}
	return nil
}

// nextSettings checks the next settings: everything they name stands before them.
func (c *checker) nextSettings(m *Material) error {
	wrong := func(err error) error { return fmt.Errorf("settings %.64s: %w", m.SHA256, err) }
	if err := c.nextMaterial(m, c.setting, len(c.settings)); err != nil {
		return wrong(err)
	}
	if !c.trusted {
		if err := m.sound("doc"); err != nil {
			return wrong(err)
		}
		if err := c.useMaterials(m.Text); err != nil {
			return wrong(fmt.Errorf("doc: %w", err))
		}
	}
	c.setting = strings.Clone(m.SHA256)
	c.settings[c.setting] = false
	return nil
}

// useMaterials notes that settings name their materials.
func (c *checker) useMaterials(settings string) error {
	named, err := prompt.MaterialsOf(settings)
	if err != nil {
		return err
	}
	use := func(sum string, fits func(material) bool) error {
		m, there := c.materials[sum]
		if !there {
			return fmt.Errorf("no material %.64q stands before it", sum)
		}
		if !fits(m) {
			return fmt.Errorf("material %s is not what it is named as", sum)
		}
		m.used = true
		c.materials[sum] = m
		return nil
	}
	for _, sum := range named.Texts {
		if err := use(sum, func(m material) bool { return !m.long }); err != nil {
			return err
		}
	}
	if named.Tools == "" {
		return nil
	}
	return use(named.Tools, func(m material) bool { return m.tools })
}

// unused finds a text or settings that nothing in the bundle needs.
func (c *checker) unused() error {
	if c.trusted {
		return nil
	}
	for _, sum := range slices.Sorted(maps.Keys(c.materials)) {
		if !c.materials[sum].used {
			return fmt.Errorf("material %s: no settings name it", sum)
		}
	}
	for _, sum := range slices.Sorted(maps.Keys(c.settings)) {
		if !c.settings[sum] {
			return fmt.Errorf("settings %s: no epoch has them", sum)
		}
	}
	return nil
}

// materials writes the texts that the session's epochs begin with, and then the settings that name them. On the way
// it notes which checkpoints the epochs refer to.
func (e *export) materials(ctx context.Context) error {
	texts, settings := make(map[string]bool), make(map[string]bool)
	for row, err := range e.epochRows(ctx) {
		if err != nil {
			return err
		}
		epoch, err := prompt.DecodeEpoch(row)
		if err != nil {
			return err
		}
		for _, ref := range epoch.Checkpoints {
			e.refs[version{ref.Number, ref.Version}] = ref.SHA256
		}
		if settings[epoch.Settings] {
			continue
		}
		doc, err := e.text(ctx, epoch.Settings)
		if err != nil {
			return err
		}
		named, err := prompt.MaterialsOf(doc)
		if err != nil {
			return fmt.Errorf("settings %s: doc: %w", epoch.Settings, err)
		}
		settings[epoch.Settings] = true
		for _, sum := range named.Texts {
			texts[sum] = true
		}
		if named.Tools != "" {
			texts[named.Tools] = true
		}
	}
	for _, part := range []struct {
		sums   map[string]bool
		record func(*Material) Record
	}{
		{texts, func(m *Material) Record { return Record{Material: m} }},
		{settings, func(m *Material) Record { return Record{Settings: m} }},
	} {
		for _, sum := range slices.Sorted(maps.Keys(part.sums)) {
			text, err := e.text(ctx, sum)
			if err != nil {
				return err
			}
			if err := e.enc.Encode(part.record(&Material{sum, text})); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *export) text(ctx context.Context, sum string) (string, error) {
	text, err := e.tx.Prompt().Material(ctx, e.info.Tenant, sum)
	if err != nil {
		return "", fmt.Errorf("material %s: %w", sum, err)
	}
	return text, nil
}

// material keeps a text for the tenant, which may have it already.
func (i *imported) material(ctx context.Context, m *Material) error {
	if err := i.tx.Prompt().PutMaterial(ctx, i.session.Tenant, m.SHA256, m.Text, i.tx.Now()); err != nil {
		return fmt.Errorf("material %s: %w", m.SHA256, err)
	}
	return nil
}
