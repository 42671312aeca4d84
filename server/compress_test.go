package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

// long is a conversation that has something to leave out.
func (c *client) long(session string) {
	var texts []string
	for i := range 30 {
		texts = append(texts, fmt.Sprintf("In round %d we looked at file src/part%d.go and found nothing of interest. %s", i, i, strings.Repeat("So we went on and on. ", 12)))
	}
	c.say(session, texts...)
}

func TestCompression(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("short", "Hello.")
	var pass struct {
		Compressed  bool
		Reason      string
		Pass        int64
		From, To    int64
		Checkpoints []struct {
			Level   string
			Summary string
		}
	}
	c.want(http.StatusOK, &pass, "POST", "/sessions/short/compress", nil)
	if pass.Compressed || pass.Reason == "" {
		t.Errorf("%+v", pass)
	}
	c.want(http.StatusConflict, nil, "POST", "/sessions/short/undo", nil)

	c.long("s")
	small := `{"model":"llama3.2","context":8192}`
	c.want(http.StatusOK, &pass, "POST", "/sessions/s/compress", small)
	if !pass.Compressed || pass.Pass != 1 || pass.From != 1 || len(pass.Checkpoints) != 1 || pass.Checkpoints[0].Summary == "" {
		t.Fatalf("%+v", pass)
	}
	var status struct {
		Compressions, Turns int64
		Whole               bool
		Shown               int64 `json:"turns_shown"`
		Reliability         struct {
			Level  string
			Advice []string
		}
	}
	c.want(http.StatusOK, &status, "GET", "/sessions/s/status?model=llama3.2&context=8192", nil)
	if status.Whole || status.Compressions != 1 || status.Turns < 30 || status.Shown >= status.Turns || status.Reliability.Level == "" {
		t.Errorf("%+v", status)
	}
	if advice := strings.Join(status.Reliability.Advice, " "); !strings.Contains(advice, "Start a new conversation.") || !strings.HasSuffix(advice, "with ?context=: it may have up to 131,072 tokens.") {
		t.Errorf("%q", status.Reliability)
	}
	status.Reliability.Advice = nil
	if c.want(http.StatusOK, &status, "GET", "/sessions/short/status", nil); !status.Whole || status.Reliability.Advice != nil {
		t.Errorf("%+v", status)
	}

	var list struct {
		Items []struct {
			Number   int64 `json:"compression_number"`
			Versions int
			From, To int64
		}
	}
	c.want(http.StatusOK, &list, "GET", "/sessions/s/checkpoints", nil)
	if len(list.Items) != 1 || list.Items[0].Number != 1 || list.Items[0].Versions != 1 || list.Items[0].To != pass.To {
		t.Errorf("%+v", list)
	}
	var one struct{ Summary string }
	c.want(http.StatusOK, &one, "GET", "/sessions/s/checkpoints/1", nil)
	if one.Summary != pass.Checkpoints[0].Summary {
		t.Errorf("%q", one.Summary)
	}
	var receipt struct {
		Session string `json:"session_id"`
		Version int64
		By      string
		Missing []string
	}
	c.want(http.StatusOK, &receipt, "GET", "/sessions/s/checkpoints/1/receipt?version=1", nil)
	if receipt.By == "" || receipt.Missing == nil || receipt.Version != 1 || receipt.Session != "s" {
		t.Errorf("%+v", receipt)
	}
	var diff struct{ Lines []struct{ Op, Text string } }
	c.want(http.StatusOK, &diff, "GET", "/sessions/s/checkpoints/1/diff", nil)
	if len(diff.Lines) == 0 || diff.Lines[0].Op != " " {
		t.Errorf("%+v", diff)
	}
	for _, path := range []string{"/checkpoints/2", "/checkpoints/1?version=2", "/checkpoints/1/diff?to=9", "/checkpoints/3/receipt"} {
		c.want(http.StatusNotFound, nil, "GET", "/sessions/s"+path, nil)
	}

	var undone struct {
		Undone   string
		Pass     int64
		From, To int64
	}
	c.want(http.StatusOK, &undone, "POST", "/sessions/s/undo", small)
	if undone.Undone != "pass" || undone.Pass != 1 || undone.From != pass.From || undone.To != pass.To {
		t.Errorf("%+v", undone)
	}
	// It is in no prompt any more, and can still be looked at.
	before := one
	if c.want(http.StatusOK, &one, "GET", "/sessions/s/checkpoints/1", nil); one != before {
		t.Errorf("%+v became %+v", before, one)
	}
}

// What was forgotten is gone from the checkpoints that told it, and they say so.
func TestAnEmptiedCheckpoint(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.long("s")
	c.want(http.StatusOK, nil, "POST", "/sessions/s/compress", `{"model":"llama3.2","context":8192}`)
	c.want(http.StatusOK, nil, "POST", "/sessions/s/forget", map[string]any{"seqs": []int{1}})
	for _, path := range []string{"1", "1?version=1", "1/receipt", "1/diff"} {
		var problem server.Problem
		c.want(http.StatusGone, &problem, "GET", "/sessions/s/checkpoints/"+path, nil)
		if problem.Type != "/api/v1/docs#changed" || problem.Detail != "checkpoint 1 of s: it was emptied: of what it told, something was forgotten" {
			t.Errorf("%s: %+v", path, problem)
		}
	}
	c.want(http.StatusOK, nil, "GET", "/sessions/s/checkpoints", nil)
}

func TestSnapshots(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "one", "two")
	type shot struct {
		ID, Name string
		Turn     int64
		Left     int64 `json:"turns_left_behind"`
	}
	var first, second, back shot
	c.want(http.StatusCreated, &first, "POST", "/sessions/s/snapshots", `{"name":"before"}`)
	c.want(http.StatusCreated, &second, "POST", "/sessions/s/snapshots", nil)
	if first.Name != "before" || first.Turn != 2 || second.ID <= first.ID {
		t.Errorf("%+v %+v", first, second)
	}
	var list struct {
		Items []shot
		Next  string
	}
	c.want(http.StatusOK, &list, "GET", "/sessions/s/snapshots?limit=1", nil)
	if len(list.Items) != 1 || list.Items[0].ID != second.ID {
		t.Errorf("%+v", list)
	}
	c.want(http.StatusOK, &list, "GET", "/sessions/s/snapshots?limit=1&cursor="+list.Next, nil)
	if len(list.Items) != 1 || list.Items[0].ID != first.ID {
		t.Errorf("%+v", list)
	}
	c.say("s", "three")
	c.want(http.StatusOK, &back, "POST", "/sessions/s/restore", `{"snapshot":"before"}`)
	if back.ID != first.ID || back.Left != 1 {
		t.Errorf("%+v", back)
	}
	for path, want := range map[string][]int64{
		"/turns": {1, 2}, "/turns?all=true": {1, 2, 3}, "/history": {1, 2}, "/history?all=true": {1, 2, 3}, "/window": {1, 2},
	} {
		var shown turnsShown
		c.want(http.StatusOK, &shown, "GET", "/sessions/s"+path, nil)
		if diff := cmp.Diff(want, shown.seqs()); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		if last := shown.Items[len(shown.Items)-1]; last.OffPath != (last.Seq == 3) {
			t.Errorf("%s: %+v", path, last)
		}
	}
	var undone struct{ Undone string }
	if c.want(http.StatusOK, &undone, "POST", "/sessions/s/undo", nil); undone.Undone != "restore" {
		t.Errorf("%+v", undone)
	}
	c.want(http.StatusNoContent, nil, "DELETE", "/sessions/s/snapshots/"+second.ID, nil)
	c.want(http.StatusNotFound, nil, "DELETE", "/sessions/s/snapshots/"+second.ID, nil)
	c.want(http.StatusNotFound, nil, "POST", "/sessions/s/restore", `{"snapshot":"nowhere"}`)
	c.want(http.StatusBadRequest, nil, "POST", "/sessions/s/restore", `{}`)
	c.want(http.StatusBadRequest, nil, "POST", "/sessions/s/snapshots", `{"name":"a\nb"}`)

}

func TestPins(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "one", "two")
	var pin struct {
		Seq    int64
		Pinned bool
	}
	if c.want(http.StatusOK, &pin, "PUT", "/sessions/s/pins/2", nil); pin.Seq != 2 || !pin.Pinned {
		t.Errorf("%+v", pin)
	}
	var list struct {
		Items []struct {
			Seq  int64
			Role string
		}
	}
	if c.want(http.StatusOK, &list, "GET", "/sessions/s/pins", nil); len(list.Items) != 1 || list.Items[0].Role != "agent" {
		t.Errorf("%+v", list)
	}
	if c.want(http.StatusOK, &pin, "DELETE", "/sessions/s/pins/2", nil); pin.Pinned {
		t.Errorf("%+v", pin)
	}
	if c.want(http.StatusOK, &list, "GET", "/sessions/s/pins", nil); len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
	c.want(http.StatusNotFound, nil, "PUT", "/sessions/s/pins/3", nil)
	c.want(http.StatusBadRequest, nil, "PUT", "/sessions/s/pins/0", nil)
}

// A name that several snapshots have means the newest of them; the answer says which, and the others have their ids.
func TestRestoreByANameThatRepeats(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	var taken [2]struct {
		ID   string
		Turn int64
	}
	for i := range taken {
		c.say("s", "one", "two")
		c.want(http.StatusCreated, &taken[i], "POST", "/sessions/s/snapshots", `{"name":"before"}`)
	}
	c.say("s", "three")
	for _, test := range []struct {
		asked string
		want  int
	}{{"before", 1}, {taken[0].ID, 0}, {taken[1].ID, 1}} {
		var back struct{ ID string }
		c.want(http.StatusOK, &back, "POST", "/sessions/s/restore", map[string]any{"snapshot": test.asked, "context": 8192})
		if back.ID != taken[test.want].ID {
			t.Errorf("%s leads to %s of %+v", test.asked, back.ID, taken)
		}
	}
}
