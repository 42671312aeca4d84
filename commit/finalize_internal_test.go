package commit

import (
	"slices"
	"testing"
	"time"
)

// The end of a trace is stored by the note of its publication or, where none comes, by a flush, and never by both.
func TestAnEndOfATraceIsStoredByOne(t *testing.T) {
	var ends tails
	begin := time.Now()
	ends.put("a", &tail{at: begin})
	later := begin.Add(patience)
	old := func(at time.Time) bool { return at.Before(later) }
	if ends.noted("a", later) == nil || ends.noted("b", later) != nil {
		t.Error("one that waits is not noted, or one that does not is")
	}
	if got := ends.flush(old); len(got) > 0 {
		t.Errorf("%q is flushed while it is noted", got)
	}
	flush := func(want ...string) {
		t.Helper()
		if got := ends.flush(func(time.Time) bool { return true }); !slices.Equal(got, want) {
			t.Errorf("%q is flushed, want %q", got, want)
		}
	}
	flush("a") // the note came to nothing
	flush()
	if ends.noted("a", later) != nil {
		t.Error("it is noted while it is flushed")
	}
	ends.forget("", 0)
	ends.unflushed([]string{"a"})
	flush()
	ends.put("a", &tail{at: begin})
	flush("a")
	ends.unflushed([]string{"a"})
	flush("a")
}
