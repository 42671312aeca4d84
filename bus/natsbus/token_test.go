package natsbus

import (
	"strings"
	"testing"
)

// TestDurablesAreAsLongAsNATSTakes, stay what they were where they fit, and differ.
func TestDurablesAreAsLongAsNATSTakes(t *testing.T) {
	fits := strings.Repeat("a.", 60) + "aaaaaaaa" // 255 bytes with its prefix
	if got := durable(fits); got != "daemon-"+Token(fits) || len(got) != 255 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	seen := make(map[string]string)
	for _, name := range []string{strings.Repeat("a.", 64), strings.Repeat("a.", 63) + ".a", strings.Repeat(".:", 64), strings.Repeat(".", 128)} {
		got := durable(name)
		if len(got) != 255 || seen[got] != "" {
			t.Errorf("%s: %d bytes, %s is also of %q", name, len(got), got, seen[got])
		}
		seen[got] = name
	}
}
