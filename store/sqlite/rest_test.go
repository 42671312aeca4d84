package sqlite_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

func TestAWriterThatRestsGivesItsMemoryBack(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	for range 20 {
		mustSay(t, s, k, strings.Repeat("kept ", 500))
	}
	freed, err := s.LookAround()
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range freed {
		if last := i == len(freed)/2-1; last != (n > 0) {
			t.Errorf("look %d gave %d bytes back", i, n)
		}
	}
	mustSay(t, s, k, "again")
	if n := len(log(t, s, k)); n != 21 {
		t.Errorf("%d turns", n)
	}
}
