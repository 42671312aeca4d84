package budget

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/record"
)

// FallbackContext is the context of a model that nobody has heard of.
const FallbackContext = 8192

// Profiles is a table of models by name. It is safe for concurrent use and never changes.
type Profiles struct {
	all    []Profile
	byName map[string]int
}

// Known returns the built-in profiles.
func Known() *Profiles { return tableOf(known) }

func tableOf(all []Profile) *Profiles {
	p := &Profiles{all: all, byName: make(map[string]int, 2*len(all))}
	for i, one := range all {
		for _, alias := range one.Aliases {
			p.byName[key(alias)] = i
		}
	}
	// A name of its own comes before another's alias.
	for i, one := range all {
		p.byName[key(one.Name)] = i
	}
	return p
}

// key is how a name is looked up.
func key(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// With returns a table with more profiles. One that has the name of another takes its place. A profile that
// [Profile.Check] refuses is a *[FieldError] that names the place: profiles[2].context.
func (p *Profiles) With(more ...Profile) (*Profiles, error) {
	all := slices.Clone(p.all)
	for i, one := range more {
		if err := one.Check(); err != nil {
			return nil, record.Within(record.Indexed("profiles", i), err)
		}
		same := func(q Profile) bool { return key(q.Name) == key(one.Name) }
		if at := slices.IndexFunc(all, same); at >= 0 {
			all[at] = one
			continue
		}
		all = append(all, one)
	}
	return tableOf(all), nil
}

// All returns the profiles in the order of the table, those that were added last. The slice is the caller's.
func (p *Profiles) All() []Profile { return slices.Clone(p.all) }

// Find returns the profile of a model, under the name that was asked for. Names match in any case: first
// as they are, then without what stands before a slash (a registry), then by the longest known name that begins
// it and ends where a tag or a word does. A size in the rest of the name, such as :70b, replaces the profile's.
//
// Of a model that nobody has heard of it returns false and a profile to go on with: a context of
// [FallbackContext] tokens, the usual template, no tokenizer, so that counts are estimated until a
// calibration is there, and the size if the name tells it.
func (p *Profiles) Find(model string) (Profile, bool) {
	name := key(model)
	if i, ok := p.byName[name]; ok {
		return p.named(i, model, ""), true
	}
	if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
		name = name[slash+1:]
		if i, ok := p.byName[name]; ok {
			return p.named(i, model, ""), true
		}
	}
	for end := len(name) - 1; end > 0; end-- {
		if !strings.ContainsRune(":-_@.", rune(name[end])) {
			continue
		}
		if i, ok := p.byName[name[:end]]; ok {
			return p.named(i, model, name[end:]), true
		}
	}
	return Profile{
		Name:     strings.TrimSpace(model),
		Context:  FallbackContext,
		Size:     sizeIn(name),
		Template: usualTemplate,
	}, false
}

// named returns a profile under the name that was asked for; rest is what the table's name leaves of it.
func (p *Profiles) named(i int, model, rest string) Profile {
	found := p.all[i]
	found.Name = strings.TrimSpace(model)
	if size := sizeIn(rest); size > 0 {
		found.Size = size
	}
	return found
}

// sizeIn finds a size such as 70b, 1.5b, 8x7b or 270m between the separators of a name, in billions. Experts
// are multiplied, which is a little more than they have. 0 where there is none.
func sizeIn(name string) float64 {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(":-_/@ ", r) }) {
		unit := 1.0
		number, is := strings.CutSuffix(part, "b")
		if !is {
			if number, is = strings.CutSuffix(part, "m"); !is {
				continue
			}
			unit = 1.0 / 1000
		}
		experts := 1.0
		if n, each, mixed := strings.Cut(number, "x"); mixed {
			if experts = decimal(n); experts == 0 {
				continue
			}
			number = each
		}
		number = strings.TrimPrefix(number, "e") // Gemma's "effective" sizes
		if size := decimal(number) * experts * unit; size > 0 && size <= maxSize {
			return size
		}
	}
	return 0
}

// decimal reads digits with at most one point; 0 for all else, such as 0x10 and 1e9.
func decimal(s string) float64 {
	if len(s) == 0 || len(s) > 8 || strings.Trim(s, "0123456789.") != "" || s[0] == '.' {
		return 0
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return n
}
