package memory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/memory"
)

// FuzzDecode holds every decoder to the same: what it accepts reads back as it was.
func FuzzDecode(f *testing.F) {
	e := episode()
	f.Add(string(e.AppendJSON(nil)))
	f.Add(`{"type":"event","data_text":"[\n1]","inputs":{"novelty":1e-7}}`)
	f.Add(`{"v":1,"through_seq":3,"rolling":[{"seq":3,"text":"\u00e9"}],"topics":[],"decisions":[{"seq":3}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := memory.DecodeEpisode(text); err == nil {
			again, err := memory.DecodeEpisode(string(e.AppendJSON(nil)))
			if diff := cmp.Diff(e.AppendJSON(nil), again.AppendJSON(nil)); err != nil || diff != "" {
				t.Error(err, diff)
			}
			row := e.Row(memory.Owner{})
			if back, _, err := memory.FromRow(row); err != nil || back.Row(memory.Owner{}) != row {
				t.Errorf("row: %v", err)
			}
		}
		if c, err := memory.DecodeCandidate(text); err == nil {
			again, err := memory.DecodeCandidate(string(c.AppendJSON(nil)))
			if diff := cmp.Diff(c.AppendJSON(nil), again.AppendJSON(nil)); err != nil || diff != "" {
				t.Error(err, diff)
			}
		}
		if d, err := memory.DecodeDigest(text); err == nil {
			again, err := memory.DecodeDigest(string(d.AppendJSON(nil)))
			if diff := cmp.Diff(d.AppendJSON(nil), again.AppendJSON(nil)); err != nil || diff != "" {
				t.Error(err, diff)
			}
		}
		memory.ParseSummary(text)
	})
}
