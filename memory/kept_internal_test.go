package memory

import (
	"strings"
	"testing"
	"unsafe"
)

// A digest is kept for as long as its session is at hand, and the words and sentences in it must not keep all that was said along with them.
func TestSummariesKeepNothingOfWhatTheyAreMadeOf(t *testing.T) {
	input := "We decided to keep the migration small. " + strings.Repeat("Much more is said. ", 1000)
	reply := "Agreed, the migration stays small and the schema stable. " + strings.Repeat("And answered. ", 1000)
	s := summarise(Turn{Input: input, Reply: reply})
	if len(s.Topics) == 0 || len(s.Decided) != 2 {
		t.Fatalf("topics %q, decided %q: there is nothing to look at", s.Topics, s.Decided)
	}
	for _, kept := range append(append(s.Topics, s.Decided...), s.Line) {
		if lies(kept, input) || lies(kept, reply) {
			t.Errorf("%q keeps the whole text that it was said in", kept)
		}
	}
}

// lies reports whether a text lies in the memory of another.
func lies(text, in string) bool {
	start, at := uintptr(unsafe.Pointer(unsafe.StringData(in))), uintptr(unsafe.Pointer(unsafe.StringData(text)))
	return start <= at && at < start+uintptr(len(in))
}
