package strictjson_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// TestAppendTimeIsFormat holds AppendTime against the package time, in any zone and in years that have more or fewer digits.
func TestAppendTimeIsFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", rapid.IntRange(-18*3600, 18*3600).Draw(t, "zone"))
		at := time.Unix(rapid.Int64Range(-70_000_000_000, 300_000_000_000).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond")).In(zone)
		want := `x"` + at.UTC().Format(strictjson.TimeFormat) + `"`
		if got := string(strictjson.AppendTime([]byte("x"), at)); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

func BenchmarkAppendTime(b *testing.B) {
	at, dst := time.Now(), make([]byte, 0, 64)
	for b.Loop() {
		dst = strictjson.AppendTime(dst[:0], at)
	}
}
