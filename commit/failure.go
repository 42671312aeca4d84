package commit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/scratch"
)

// toolFailure is the type of the observations that failures of tools leave, so that the next one is
// known to be a repetition.
const toolFailure = "tool_failure"

// maxFailures is how many failures of tools stand on a page; when one more comes, the oldest makes room. The page has to last
// for what people and agents note, too.
const maxFailures = 20

// failure is a way in which a tool failed in the exchange.
type failure struct {
	tool, says string
	turns      []string              // of the results that say so, here
	last       int                   // the last of the runs that failed so
	noted      []scratch.Observation // what earlier exchanges left of it on the page
}

// failure is what a tool failed with, in a line.
func (t *ToolRun) failure() string {
	return cmp.Or(storableText(firstLine(t.outcome())), "failed without saying why")
}

// failures are the ways in which tools failed, in the order in which they first did.
func failures(s *Situation) []*failure {
	var found []*failure
	by := make(map[[2]string]*failure)
	for i := range s.Tools {
		t := &s.Tools[i]
		if !t.failed() {
			continue
		}
		key := [2]string{t.Name, t.failure()}
		f := by[key]
		if f == nil {
			f = &failure{tool: key[0], says: key[1]}
			by[key] = f
			found = append(found, f)
		}
		f.turns, f.last = append(f.turns, t.TurnID), i
	}
	if len(found) == 0 {
		return nil
	}
	for _, o := range s.Page.Observations() {
		if f := by[[2]string{o.Source, o.Content}]; f != nil && o.Type == toolFailure {
			f.noted = append(f.noted, o)
		}
	}
	return found
}

// issue says that the tool failed so before, here or in earlier exchanges; ok is false where it did not.
func (f *failure) issue() (i Issue, ok bool) {
	var refs []string
	for _, o := range f.noted {
		refs = append(refs, o.ContextRefs...)
	}
	n := len(distinct(append(refs, f.turns...)))
	times := fmt.Sprint(n)
	if n > scratch.MaxRefs {
		times = fmt.Sprintf("more than %d", scratch.MaxRefs) // no note has more of them
	}
	return Issue{RepeatedFailure, fmt.Sprintf("%s failed again, %s times so far: %s", f.tool, times, f.says)}, n > 1
}

// note is the observation that the failure leaves. It stands in the place of those that are archived for it.
func (f *failure) note(s *Situation) (put scratch.Change, archive []string) {
	var refs []string
	for _, o := range f.noted {
		if s.untouched(o) {
			refs, archive = append(refs, o.ContextRefs...), append(archive, o.ID)
		}
	}
	refs = distinct(append(refs, f.turns...))
	refs = refs[max(0, len(refs)-scratch.MaxRefs):]
	kind, confidence, tags := toolFailure, 1.0, []string{"tool"}
	return scratch.Change{Type: &kind, Content: &f.says, Source: &f.tool, Tags: &tags, Confidence: &confidence, ContextRefs: &refs}, archive
}

// untouched reports whether an observation is the note of a failure that nobody has taken up, in this exchange either.
func (s *Situation) untouched(o scratch.Observation) bool {
	return o.Type == toolFailure && o.Status == scratch.Active && o.Owner == "" &&
		!slices.ContainsFunc(s.Notes.Put, func(c scratch.Change) bool { return c.ID == o.ID }) &&
		!slices.Contains(s.Notes.Archive, o.ID) && !slices.Contains(s.Notes.Clear, o.ID)
}

// noteFailures has the page note what failed, as far as it has room: a failure that is not noted must not make an exchange end
// with errors, nor take the place of what somebody else notes.
func (r *Reflection) noteFailures(s *Situation) {
	found := failures(s)
	if len(found) == 0 {
		return
	}
	page := s.Page.Observations()
	// What the exchange itself notes comes first, and makes room only after all was noted.
	room := max(0, min(maxFailures, scratch.MaxLive-len(page)-len(s.Notes.Put)))
	found = found[max(0, len(found)-room):]
	for _, f := range found {
		put, archive := f.note(s)
		r.Scratch.Put = append(r.Scratch.Put, put)
		r.Scratch.Archive = append(r.Scratch.Archive, archive...)
	}
	others := slices.DeleteFunc(page, func(o scratch.Observation) bool { return !s.untouched(o) || slices.Contains(r.Scratch.Archive, o.ID) })
	slices.SortFunc(others, func(a, b scratch.Observation) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, o := range others[:max(0, min(len(others), len(others)+len(found)-maxFailures))] {
		r.Scratch.Archive = append(r.Scratch.Archive, o.ID)
	}
}

// distinct returns the texts, each once, in their order.
func distinct(texts []string) []string {
	seen := make(map[string]bool, len(texts))
	return slices.DeleteFunc(texts, func(text string) bool {
		had := seen[text]
		seen[text] = true
		return had
	})
}
