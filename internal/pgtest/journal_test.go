package pgtest

import (
	"strings"
	"testing"
)

func TestJournalNoticesReadiness(t *testing.T) {
	j := newJournal()
	ready := func() bool {
		select {
		case <-j.ready:
			return true
		default:
			return false
		}
	}
	for i, piece := range []string{"LOG:  starting\nLOG:  database system is re", "ady to accept connections\n", "again: " + readyLine} {
		if n, err := j.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
		if got, want := ready(), i > 0; got != want {
			t.Errorf("after piece %d: ready %v, want %v", i, got, want)
		}
	}
}

func TestJournalKeepsTheEnd(t *testing.T) {
	j := newJournal()
	for range 3 {
		if _, err := j.Write([]byte(strings.Repeat("x", journalSize/2+1))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.Write([]byte("FATAL:  the end\n")); err != nil {
		t.Fatal(err)
	}
	got := j.String()
	if len(got) > journalSize || !strings.HasSuffix(got, "xFATAL:  the end") {
		t.Errorf("journal of %d bytes ends %q", len(got), got[max(0, len(got)-20):])
	}
}
