package turnstone

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Touched is something that is no turn and that forgetting reached, by what it links to or by its words.
type Touched struct {
	// Kind is "goal" or "action", of which words go; "slot", which is emptied; "item" of memory or "note", which are deleted.
	Kind string `json:"kind"`
	// ID is that of a slot's flow, with the slot's name behind a slash unless that is one of the words.
	ID      string `json:"id"`
	Session string `json:"session_id"`
	// Texts are what of it would go: in a preview alone, and the beginning of what is long.
	Texts []string `json:"texts,omitempty"`
}

// Bounds of what a receipt lists.
const (
	maxTouched     = 256
	maxTouchedText = 200
	maxTouchedEach = 8
)

// touch notes what was reached, once however many versions of it there are.
func (f *forgetting) touch(r *reached, kind, id string, texts ...string) {
	if r.info.Importing() {
		return
	}
	key := [3]string{r.info.Session, kind, id}
	t := f.touched[key]
	t.Kind, t.ID, t.Session = kind, id, r.info.Session
	if !f.target.Preview {
		texts = nil
	}
	for _, text := range texts {
		if text = shortened(text); text != "" && len(t.Texts) < maxTouchedEach && !slices.Contains(t.Texts, text) {
			t.Texts = append(t.Texts, text)
		}
	}
	if f.touched == nil {
		f.touched = make(map[[3]string]Touched)
	}
	f.touched[key] = t
}

func shortened(text string) string {
	if len(text) <= maxTouchedText {
		return text
	}
	n := maxTouchedText
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// name puts what was reached into a receipt, in one order on every store.
func (r *Receipt) name(touched []Touched, more int) {
	all := slices.Concat(r.Touched, touched)
	slices.SortStableFunc(all, func(a, b Touched) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	all = slices.CompactFunc(all, func(a, b Touched) bool { return a.Kind == b.Kind && a.ID == b.ID && a.Session == b.Session })
	r.TouchedMore += more
	if len(all) > maxTouched {
		r.TouchedMore += len(all) - maxTouched
		all = all[:maxTouched]
	}
	r.Touched = all
}
