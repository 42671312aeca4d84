package history_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/replay/history"
)

const trajectories = `[
{"task_id": 4, "reward": NaN, "info": {"task": {}}, "traj": [{"role": "user", "content": "first"}], "trial": 0},
{"task_id": 4, "reward": 1.0, "traj": [
	{"role": "system", "content": "# Policy"},
	{"role": "user", "content": "My booking?"},
	{"content": null, "role": "assistant", "tool_calls": [{"function": {"arguments": "{\"id\": \"b1\"}", "name": "booking"}, "id": "c1", "type": "function"}]},
	{"role": "tool", "tool_call_id": "c1", "name": "booking", "content": ""}], "trial": 1}
]`

func TestTrajectory(t *testing.T) {
	w, got := read(t, trajectories, "", history.Options{Trajectory: 2})
	want := []string{
		`system/text {"text":"# Policy"}`, `user/text {"text":"My booking?"}`,
		`agent/text unit=3 {"text":"","tool_calls":[{"id":"c1","name":"booking","arguments":{"id": "b1"}}]}`,
		`system/action unit=3 {"name":"booking","call_id":"c1","status":"ok","result":""}`,
	}
	if diff := cmp.Diff(want, w.transcript()); diff != "" {
		t.Error(diff)
	}
	if got.Header.Title != "task 4, trial 1" {
		t.Errorf("title %q", got.Header.Title)
	}
	if diff := cmp.Diff([]string{"members beside the messages: 1 at trajectory 2 (line 3)"}, kinds(got.Report)); diff != "" {
		t.Error(diff)
	}
	w, _ = read(t, `{"task_id":"x","traj":[{"role":"user","content":"only"}]}`, "", history.Options{})
	if diff := cmp.Diff([]string{`user/text {"text":"only"}`}, w.transcript()); diff != "" {
		t.Error(diff)
	}
}

func TestBadTrajectory(t *testing.T) {
	for _, tt := range []struct {
		input  string
		choice int
		want   string
	}{
		{trajectories, 0, "trajectory: is missing: there are 2; choose one from 1 to 2"},
		{trajectories, 3, "trajectory: 3 is none: there are 2; choose one from 1 to 2"},
		{trajectories, -1, "trajectory: -1 is none: there are 2; choose one from 1 to 2"},
		{`[]`, 0, "input: holds no trajectory; give at least one"},
		{`[{"task_id":1}]`, 1, "trajectory 1 (line 1): traj: is missing; give the messages of the trajectory"},
		{`[{"traj":[` + "\n" + `{"role":"user"},{"content":"x"}]}]`, 1, "message 2 (line 2): role: is missing; say who wrote the message"},
		{`[{"traj":[{"role":"user","content":NaN}]}]`, 1, "message 1 (line 1): offset 25: expected a value, found 'N'; correct the JSON; nothing was imported"},
		{trajectories + "x", 1, "line 8: expected nothing after the document, found 'x'; correct the JSON; nothing was imported"},
	} {
		if err := refusal(t, tt.input, history.Tau, history.Options{Trajectory: tt.choice}); err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}
