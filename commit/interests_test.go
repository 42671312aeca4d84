package commit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/memory"
)

// What the user cares about is what was told last, at once, and no more of it than is looked at.
func TestTheUserCaresAboutWhatWasToldLast(t *testing.T) {
	st := &standing{}
	concerns := func(text string) bool {
		c := memory.Candidate{Type: memory.Event, Text: text}
		return memory.Rules{}.Score(&c, &memory.View{User: st.cares()}).User > 0
	}
	if concerns("anything") {
		t.Error("it concerns a user who told nothing")
	}
	for n := range 50 {
		next := *st // as a commit makes it: the one before may be asked again if that fails
		next.tell([]memory.Episode{
			{Type: memory.UserData, Text: fmt.Sprintf("fact%d is told %s behind%d", n, strings.Repeat("long ", maxLine/5), n)},
			{Type: memory.Event, Text: fmt.Sprintf("event%d", n)},
		})
		if fact := fmt.Sprint("fact", n); concerns(fact) {
			t.Errorf("%s concerns the user before it was told", fact)
		}
		*st = next
		for told := range n + 1 {
			if got, want := concerns(fmt.Sprint("fact", told)), told > n-maxFacts; got != want {
				t.Errorf("after fact %d, fact %d concerns the user: %v, want %v", n, told, got, want)
			}
		}
		if concerns(fmt.Sprint("behind", n)) {
			t.Errorf("the end of a long fact %d concerns the user", n)
		}
	}
	if concerns("event49") {
		t.Error("what only happened concerns the user")
	}
	var many []memory.Episode
	for n := range maxFacts + 2 {
		many = append(many, memory.Episode{Type: memory.UserData, Text: fmt.Sprint("many", n)})
	}
	two := *st
	two.tell(many[:2])
	if !slices.Equal(two.facts[:2], []string{"many1", "many0"}) || !slices.Equal(two.facts[2:], st.facts[:maxFacts-2]) {
		t.Errorf("of two facts and those before %q are kept", two.facts)
	}
	if st.tell(many); len(st.facts) != maxFacts || st.facts[0] != "many17" || st.facts[maxFacts-1] != "many2" {
		t.Errorf("of %d facts at once %q are kept, want the last %d, newest first", len(many), st.facts, maxFacts)
	}
}

// What goals are about is made anew when they change, and only then.
func TestInterestsFollowTheGoals(t *testing.T) {
	st := &standing{intentions: cortex.Live()}
	pursue := func(title string) {
		ch := cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &title}}}
		st.intentions = st.intentions.Stage(ch, time.Now(), nil).Next
	}
	concerns := func(text string) bool {
		c := memory.Candidate{Type: memory.Event, Text: text}
		return memory.Rules{}.Score(&c, &memory.View{Goals: st.pursues()}).Goals > 0
	}
	if concerns("harbour") {
		t.Error("it concerns a session without a goal")
	}
	pursue("harbour")
	if !concerns("harbour") || concerns("lighthouse") {
		t.Error("interests do not follow a goal that is new")
	}
	if made := st.pursues(); st.pursues() != made {
		t.Error("interests are made again for goals that stayed as they are")
	}
	pursue("lighthouse")
	if concerns("harbour") || !concerns("lighthouse") {
		t.Error("interests do not follow a goal that changed")
	}
}
