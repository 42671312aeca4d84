package server_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

// TestCommitReportsErrors: what an exchange reports as an error is an issue of its evaluation.
func TestCommitReportsErrors(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	var done struct {
		ExportID string `json:"export_id"`
	}
	c.want(http.StatusOK, &done, "POST", "/sessions/s/commit?create=true",
		`{"turns":[{"role":"user","text":"Am I free?"},{"role":"agent","text":"I think so."}],"errors":["the calendar timed out"],"warnings":["slow"]}`)
	var export struct {
		Evaluation struct {
			Issues   []struct{ Kind, Text string }
			FollowUp bool `json:"follow_up_needed"`
		}
	}
	c.want(http.StatusOK, &export, "GET", "/exports/"+done.ExportID, nil)
	e := export.Evaluation
	if len(e.Issues) != 1 || e.Issues[0].Kind != "reported_error" || e.Issues[0].Text != "the calendar timed out" || !e.FollowUp {
		t.Errorf("%+v", e)
	}
}

func TestCommit(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	exchange := `{"turns":[{"role":"user","text":"A table at Nero, window seat please."},{"role":"agent","text":"Done: Friday at eight."}],
		"candidates":[{"type":"user_data","text":"Likes window seats","tags":["preference"]}],
		"intentions":{"goals":[{"title":"Plan Friday"}]}}`
	var first, second, again struct {
		Status     string
		ExportID   string `json:"export_id"`
		Repeated   bool
		Turns      []struct{ Seq int64 }
		Remembered []struct{ Text string }
		Changed    []struct{ Kind, ID, Title, Status string }
	}
	c.want(http.StatusNotFound, nil, "POST", "/sessions/s/commit", exchange)
	c.want(http.StatusOK, &first, "POST", "/sessions/s/commit?create=true", exchange, "Idempotency-Key", "mine")
	if first.Status != "complete" || first.Repeated || len(first.Turns) < 2 || len(first.Remembered) == 0 || len(first.Changed) != 1 || first.Changed[0].Title != "Plan Friday" || first.Changed[0].ID == "" {
		t.Errorf("%+v", first)
	}
	c.want(http.StatusOK, &second, "POST", "/sessions/s/commit", exchange, "Idempotency-Key", "mine")
	if repeated := first; !second.Repeated || second.ExportID != first.ExportID {
		t.Errorf("%+v", second)
	} else if repeated.Repeated = true; !reflect.DeepEqual(second, repeated) {
		t.Errorf("sent again it is answered with %+v, want %+v", second, repeated)
	}
	c.want(http.StatusConflict, nil, "POST", "/sessions/s/commit", strings.Replace(exchange, "Likes", "Hates", 1), "Idempotency-Key", "mine")
	c.want(http.StatusOK, &again, "POST", "/sessions/s/commit", exchange, "Idempotency-Key", "mine")
	if !reflect.DeepEqual(again, second) {
		t.Errorf("after a conflict it is answered with %+v, want %+v", again, second)
	}
	c.want(http.StatusOK, &second, "POST", "/sessions/s/commit", `{"export_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV",`+strings.TrimPrefix(exchange, "{"))
	if second.Repeated || second.ExportID != "01ARZ3NDEKTSV4RRFFQ69G5FAV" {
		t.Errorf("%+v", second)
	}
	// An id that is another exchange's makes no session.
	c.want(http.StatusConflict, nil, "POST", "/sessions/other/commit?create=true", `{"export_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","turns":[{"role":"user","text":"x"}]}`)
	c.want(http.StatusNotFound, nil, "GET", "/sessions/other", "")
	// Nor does what no session would take.
	for body, field := range map[string]string{
		`{"turns":[{"role":"user","text":""}]}`: "turns[0].content.text",
		`{"turns":[{"role":"user","text":"x"},{"role":"system","form":"action","content":{"name":"b","call_id":"c9","status":"ok","result":1}}]}`: "turns[1].content.call_id",
	} {
		var told server.Problem
		c.want(http.StatusBadRequest, &told, "POST", "/sessions/other/commit?create=true", body)
		if told.Field != field {
			t.Errorf("%s: %+v", body, told)
		}
		c.want(http.StatusNotFound, nil, "GET", "/sessions/other", "")
	}
	for body, field := range map[string]string{
		`{"turns":[{"role":"robot","text":"x"}]}`: "turns[0].role",
		`{"turn":[]}`: "turn",
		`{"export_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","turns":[{"role":"user","text":"x"}]}`: "export_id",
		`{"turns":[{"role":"user","text":"x"}],"urgency":"EXTREME"}`:                      "urgency",
	} {
		var told server.Problem
		c.want(http.StatusBadRequest, &told, "POST", "/sessions/s/commit", body, "Idempotency-Key", "other")
		if told.Field != field {
			t.Errorf("%s: %+v", body, told)
		}
	}
}

// A conflict names what the client gave. What failed is answered by who says again.
func TestConflictsOfCommitsLeadOn(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	var told server.Problem
	talk := `{"turns":[{"role":"user","text":"Hello"},{"role":"agent","text":"Hi"}]}`
	c.want(http.StatusOK, nil, "POST", "/sessions/s/commit?create=true", talk, "Idempotency-Key", "mine")
	c.want(http.StatusConflict, &told, "POST", "/sessions/s/commit", strings.Replace(talk, "Hi", "Bye", 1), "Idempotency-Key", "mine")
	if !strings.Contains(told.Detail, `idempotency_key "mine" was used for an exchange in which`) || strings.Contains(told.Detail, "export_id") {
		t.Errorf("%+v", told)
	}
	var failed, answered struct {
		Status string
		TurnID string `json:"turn_id"`
	}
	c.want(http.StatusOK, &failed, "POST", "/sessions/s/commit", `{"turns":[{"role":"user","text":"Still there?"}],"failure":"model down"}`)
	answer := `{"turn_id":"` + failed.TurnID + `","turns":[{"role":"agent","text":"Now"}]}`
	c.want(http.StatusConflict, &told, "POST", "/sessions/s/commit", answer)
	if !strings.Contains(told.Detail, "give again as true") {
		t.Errorf("%+v", told)
	}
	c.want(http.StatusOK, &answered, "POST", "/sessions/s/commit", strings.Replace(answer, "{", `{"again":true,`, 1))
	if failed.Status != "failed" || answered.Status != "complete" || answered.TurnID != failed.TurnID {
		t.Errorf("%+v, then %+v", failed, answered)
	}
}

func TestFollowUpContext(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "Buy milk")
	for _, step := range []struct{ method, path, body, want string }{
		{"GET", "/sessions/s/context", "", `{"success":true,"context":null}`},
		{"POST", "/context", `{"session":"s","action":"store","last_intent":"add_task","last_task_id":7,"pending_fields":["due"],"last_user_message":"Buy milk"}`,
			`{"success":true,"stored_context":{"last_intent":"add_task","last_task_id":"7","pending_fields":["due"],"last_user_message":"Buy milk"}}`},
		{"GET", "/sessions/s/context", "", `{"success":true,"context":{"last_intent":"add_task","last_task_id":"7","pending_fields":["due"],"last_user_message":"Buy milk"}}`},
		{"POST", "/context", `{"session":"s","action":"update"}`, `{"success":false,"error":"Invalid action: 'update'. Must be 'store', 'retrieve', or 'clear'"}`},
		{"POST", "/context", `{"session":"s","action":"clear"}`, `{"success":true,"message":`},
		{"POST", "/context", `{"session":"s","action":"retrieve"}`, `{"success":true,"context":null}`},
	} {
		var body any
		if step.body != "" {
			body = step.body
		}
		if strings.Contains(step.body, `"store"`) {
			var sent any
			if err := json.Unmarshal([]byte(step.body), &sent); err != nil {
				t.Fatal(err)
			}
			op, _ := c.doc.find(step.method, step.path)
			if err := c.doc.validate(op.RequestBody.Content["application/json"].Schema, sent, "body"); err != nil {
				t.Errorf("the document does not take it: %v", err)
			}
		}
		if got := c.want(http.StatusOK, nil, step.method, step.path, body); !strings.HasPrefix(got.body, step.want) {
			t.Errorf("%s: %s", step.body, got.body)
		}
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/none/context", nil)
}

// What is shown of the follow-up context can be sent with a commit as it stands, whatever of it is not known.
func TestAFollowUpContextIsCommittedAsItIsShown(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "Buy milk")
	op, _ := c.doc.find("POST", "/sessions/s/commit")
	for _, shown := range []string{
		`null`,
		`{"last_intent":"x","last_task_id":null,"pending_fields":[],"last_user_message":null}`,
		`{"last_intent":null,"last_task_id":"7","pending_fields":["due"],"last_user_message":"Buy milk"}`,
	} {
		body := `{"turns":[{"role":"user","text":"Buy milk"},{"role":"agent","text":"Milk."}],"follow_up":` + shown + `}`
		var sent any
		if err := json.Unmarshal([]byte(body), &sent); err != nil {
			t.Fatal(err)
		}
		if err := c.doc.validate(op.RequestBody.Content["application/json"].Schema, sent, "body"); err != nil {
			t.Errorf("the document does not take it: %v", err)
		}
		c.want(http.StatusOK, nil, "POST", "/sessions/s/commit", body)
		got := c.want(http.StatusOK, nil, "GET", "/sessions/s/context", nil)
		if want := `{"success":true,"context":` + shown + `}`; shown != "null" && strings.TrimSpace(got.body) != want {
			t.Errorf("after %s it is %s", shown, got.body)
		}
	}
	var told server.Problem
	c.want(http.StatusBadRequest, &told, "POST", "/sessions/s/commit", `{"turns":[{"role":"user","text":"x"}],"follow_up":{"last_task_id":{}}}`)
	if told.Field != "follow_up.last_task_id" {
		t.Errorf("%+v", told)
	}
}

// A key that is empty, as of a variable that is not set, would be another one each time.
func TestAnEmptyIdempotencyKeyIsRefused(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	for path, body := range map[string]string{
		"commit": `{"turns":[{"role":"user","text":"x"}]}`, "turns": `{"turns":[{"role":"user","text":"x"}]}`, "say": `{"text":"x"}`,
	} {
		for _, key := range []string{"", "  "} {
			var told server.Problem
			c.want(http.StatusBadRequest, &told, "POST", "/sessions/s/"+path+"?create=true", body, "Idempotency-Key", key)
			if told.Field != "Idempotency-Key" {
				t.Errorf("%s under %q: %+v", path, key, told)
			}
		}
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/s", "")
}
