package commit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/memory"
)

// What commands and the server answer is the same, byte for byte, and its lists are there also where they are empty.
func TestResultJSON(t *testing.T) {
	for want, r := range map[string]commit.Result{
		`{"session_id":"s","status":"complete","export_id":"e","repeated":true,"turns":[],"remembered":[],"dropped":[],"changed":[],"refused":[],"deferred":[],"problems":[]}`: {
			Status: commit.Complete, ExportID: "e", Repeated: true,
		},
		`{"session_id":"s","status":"complete_with_errors","export_id":"e","turn_id":"t","repeated":false,"reply":"Done.","turns":[],"remembered":[],` +
			`"dropped":[{"candidate":0,"type":"event","reason":"quota","importance":0.5}],"dropped_more":6,"changed":[{"kind":"goal","id":"g","title":"Move","status":"active"},{"kind":"observation","id":"o","status":"archived"}],"refused":[{"what":"goal g","reason":"it is locked"}],` +
			`"deferred":["memory"],"problems":["late"]}`: {
			Status: commit.CompleteWithErrors, ExportID: "e", TurnID: "t", Reply: "Done.",
			Dropped: []memory.Dropped{{Type: memory.Event, Reason: memory.OverQuota, Importance: 0.5}}, DroppedMore: memory.DropCounts{Unimportant: 1, Irrelevant: 2, OverQuota: 3},
			Changed: []commit.Changed{{Kind: "goal", ID: "g", Title: "Move", Status: "active"}, {Kind: "observation", ID: "o", Status: "archived"}},
			Refused: []commit.Refusal{{What: "goal g", Reason: "it is locked"}}, Deferred: []commit.Target{commit.Memory}, Problems: []string{"late"},
		},
	} {
		if d := cmp.Diff(want, string(r.AppendJSON(nil, "s"))); d != "" {
			t.Error(d)
		}
	}
}
