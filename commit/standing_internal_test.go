package commit

import (
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// As many sessions are known as may be, those committed to first are not known any more.
func TestFewStandingsAreKept(t *testing.T) {
	st := mem.New(mem.Config{})
	defer st.Close()
	known := newStandings(st, 2)
	generation, _ := st.Generation()
	keys := make([]turn.Key, 3)
	for i := range keys {
		keys[i] = turn.Key{Tenant: "default", Session: fmt.Sprint("s", i)}
		for range 3 {
			known.put(keys[i], known.made(standing{generation: generation}))
		}
	}
	is := func(want ...bool) {
		t.Helper()
		for i, k := range keys {
			if _, ok := known.valid(k); ok != want[i] {
				t.Errorf("%s is known: %t", k.Session, ok)
			}
		}
		if len(known.known) > 2 || len(known.order) != len(known.known) {
			t.Errorf("%d are kept, %d in order", len(known.known), len(known.order))
		}
	}
	is(false, true, true)
	known.drop(keys[1])
	known.drop(keys[0])
	is(false, false, true)
	known.dropAll()
	is(false, false, false)
}

// TestWhatWasDroppedDoesNotComeBack: an update may drop what is known of a session before a commit that was made before it
// has said that it is durable. What that one knew is old by then.
func TestWhatWasDroppedDoesNotComeBack(t *testing.T) {
	st := mem.New(mem.Config{})
	defer st.Close()
	generation, _ := st.Generation()
	key := turn.Key{Tenant: "default", Session: "s"}
	for name, drop := range map[string]func(*standings){
		"one": func(s *standings) { s.drop(key) }, "all": func(s *standings) { s.dropAll() },
	} {
		for _, known := range []bool{false, true} {
			s := newStandings(st, 2)
			if known {
				s.put(key, s.made(standing{generation: generation}))
			}
			old := s.made(standing{generation: generation})
			drop(s)
			s.put(key, old)
			if _, ok := s.valid(key); ok {
				t.Errorf("%s, known before: %v: what was dropped is known again", name, known)
			}
			s.put(key, s.made(standing{generation: generation, read: s.now()}))
			if _, ok := s.valid(key); !ok {
				t.Errorf("%s, known before: %v: what was made since is not known", name, known)
			}
		}
	}
}

// TestWhatWasDroppedDoesNotComeBackForWantOfRoom: another session may take the place of what was dropped before the commit has
// said that it is durable.
func TestWhatWasDroppedDoesNotComeBackForWantOfRoom(t *testing.T) {
	st := mem.New(mem.Config{})
	defer st.Close()
	generation, _ := st.Generation()
	key := turn.Key{Tenant: "default", Session: "s"}
	s := newStandings(st, 1)
	s.put(key, s.made(standing{generation: generation}))
	old, other := s.made(standing{generation: generation}), s.made(standing{generation: generation})
	s.drop(key)
	s.put(turn.Key{Tenant: "default", Session: "other"}, other)
	s.put(key, old)
	if _, ok := s.valid(key); ok {
		t.Error("what was dropped is known again")
	}
}
