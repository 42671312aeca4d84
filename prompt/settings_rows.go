package prompt

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Put stores what the settings are made of.
func (s *Sealed) Put(ctx context.Context, rows Rows, tenant string, at time.Time) error {
	sums := make([]string, 0, len(s.Materials))
	for sum := range s.Materials {
		sums = append(sums, sum)
	}
	// In one order, so that two writers of the same materials cannot wait for each other.
	slices.Sort(sums)
	for _, sum := range sums {
		if err := rows.PutMaterial(ctx, tenant, sum, s.Materials[sum], at); err != nil {
			return fmt.Errorf("material %s: %w", sum, err)
		}
	}
	return nil
}

// LoadSettings reads settings by their hash.
func LoadSettings(ctx context.Context, rows Rows, tenant, sha256 string) (Sealed, error) {
	l := loader{ctx: ctx, rows: rows, tenant: tenant}
	doc, err := storedFields.Decode(l.text(sha256))
	if l.err == nil && err != nil {
		l.err = err
	}
	s := Settings{
		System: l.text(doc.System), Mandates: doc.Mandates, Checks: doc.Checks,
		Skills: l.materials(doc.Skills), Sticky: l.materials(doc.Sticky),
	}
	if doc.Tools != "" {
		tools, err := toolFields.Decode(l.text(doc.Tools))
		if l.err == nil && err != nil {
			l.err = err
		}
		s.Tools = tools.Tools
	}
	if l.err != nil {
		return Sealed{}, fmt.Errorf("prompt settings %s: %w", sha256, l.err)
	}
	return s.Seal()
}

// loader reads materials until the first error.
type loader struct {
	ctx    context.Context
	rows   Rows
	tenant string
	err    error
}

func (l *loader) text(sha256 string) string {
	if l.err != nil || sha256 == "" {
		return ""
	}
	text, err := l.rows.Material(l.ctx, l.tenant, sha256)
	l.err = err
	return text
}

func (l *loader) materials(stored []Material) []Material {
	var loaded []Material
	for _, m := range stored {
		loaded = append(loaded, Material{m.Name, l.text(m.Text)})
	}
	return loaded
}
