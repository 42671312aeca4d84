package turnstone_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store/mem"
)

func TestDocumentPath(t *testing.T) {
	if got := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "s").DocumentPath(); got != "" {
		t.Errorf("without a folder: got %q", got)
	}
	dir := t.TempDir()
	for _, id := range []string{"plain", "Upper:1"} {
		s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{SessionsDir: dir}), id)
		if _, err := s.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		path := s.DocumentPath()
		if _, err := os.Stat(path); err != nil || filepath.Dir(filepath.Dir(path)) != dir {
			t.Errorf("%s: %s: %v", id, path, err)
		}
	}
}
