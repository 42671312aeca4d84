package prompt

import (
	"errors"

	"github.com/turnstone-dev/turnstone/internal/record"
)

// Named is what settings as they are stored are made of, by hash.
type Named struct {
	Texts []string // the system prompt, skills and sticky files
	Tools string   // the definitions; empty where there are none
}

// errSpelled says that a text is not what its hash could have been taken of.
var errSpelled = errors.New("is not written as it would be today; store the settings anew")

// MaterialsOf reads which materials settings name. The text is what is stored under the hash of the
// settings; the error says why no prompt could begin with them.
func MaterialsOf(settings string) (Named, error) {
	doc, err := storedFields.Decode(settings)
	if err != nil {
		return Named{}, err
	}
	if string(storedFields.Append(nil, &doc)) != settings {
		return Named{}, errSpelled
	}
	// The hashes stand in for the texts, which are not at hand.
	outline := Settings{Mandates: doc.Mandates, Skills: doc.Skills, Checks: doc.Checks, Sticky: doc.Sticky}
	if err := outline.Check(); err != nil {
		return Named{}, err
	}
	named := Named{Tools: doc.Tools}
	if doc.System != "" {
		named.Texts = append(named.Texts, doc.System)
	}
	for _, list := range [][]Material{doc.Skills, doc.Sticky} {
		for _, m := range list {
			if m.Text != "" {
				named.Texts = append(named.Texts, m.Text)
			}
		}
	}
	return named, nil
}

// CheckTools reports why a text cannot be the material that settings name as their tools.
func CheckTools(text string) error {
	list, err := toolFields.Decode(text)
	if err != nil {
		return err
	}
	if len(list.Tools) == 0 || string(toolFields.Append(nil, &list)) != text {
		return errSpelled
	}
	return record.CheckList("tools", list.Tools, MaxDefinitions, func(d Definition) string { return d.Name }, Definition.check)
}
