package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus/natsbus"
)

// stored is a turn as the API shows it.
type stored struct {
	ID      string `json:"turn_id"`
	Seq     int    `json:"seq"`
	Role    string `json:"role"`
	Key     string `json:"idempotency_key"`
	Content struct {
		Text string `json:"text"`
	} `json:"content"`
	Meta struct {
		Interrupted bool `json:"interrupted"`
	} `json:"meta"`
}

// check holds what is stored against what clients were told.
func (w *replicated) check() {
	w.Helper()
	exports := make(map[string]string) // of turns that opened an exchange
	asked, interrupted := 0, 0
	met := make(map[string]bool)
	for n := range talks {
		turns := allOf[stored](w, fmt.Sprintf("/sessions/talk-%d/turns", n))
		w.gapless(fmt.Sprint("talk-", n), turns)
		turns = slices.DeleteFunc(turns, func(t stored) bool { return t.Role == "system" }) // summaries
		for i, t := range turns {
			question := t.Content.Text
			if t.Role != "user" {
				if i == 0 || turns[i-1].Role != "user" {
					w.Errorf("%q answers nothing", question)
				}
				continue
			}
			if met[question] {
				w.Errorf("%q stands there twice", question)
			}
			met[question] = true
			asked++
			var answer stored
			if i+1 < len(turns) && turns[i+1].Role == "agent" {
				answer = turns[i+1]
			}
			export := w.exchange(question, t.ID, answer)
			exports[t.ID] = export.ExportID
			if export.Status == "interrupted" {
				interrupted++
			}
		}
	}
	for question := range w.spoken {
		if !met[question] {
			w.Errorf("%q was answered and is gone", question)
		}
	}
	if interrupted == 0 || len(w.spoken) == 0 || len(w.written) == 0 || len(w.ended) == 0 {
		w.Errorf("%d of %d exchanges interrupted, %d answered, %d turns written, %d sessions ended", interrupted, asked, len(w.spoken), len(w.written), len(w.ended))
	}
	w.checkWritten()
	w.checkPublished(exports)
	w.checkWatchers()
	mustRun(w.T, w.url, "doctor")
}

// exchange holds one exchange against what its client was told.
func (w *replicated) exchange(question, turnID string, answer stored) (export reply) {
	w.Helper()
	text := w.must(http.StatusOK, http.MethodGet, w.next()+"/exports/"+turnID, "")
	if err := json.Unmarshal([]byte(text), &export); err != nil {
		w.Fatal(err)
	}
	whole := answerTo(question)
	told, acknowledged := w.spoken[question]
	switch {
	case acknowledged && (told.TurnID != turnID || told.ExportID != export.ExportID || told.Text != whole || answer.Content.Text != whole || answer.Meta.Interrupted || export.Status != "complete"):
		w.Errorf("%q was answered with %+v; there are %+v and %+v", question, told, answer, export)
	case !strings.HasPrefix(whole, answer.Content.Text), answer.Meta.Interrupted && export.Status != "interrupted":
		w.Errorf("%q: there are %+v and %+v", question, answer, export)
	case export.Status == "complete" && answer.Content.Text != whole, question == "question hang" && export.Status != "interrupted":
		w.Errorf("%q is %s with %+v", question, export.Status, answer)
	}
	return export
}

func (w *replicated) gapless(session string, turns []stored) {
	w.Helper()
	for i, t := range turns {
		if t.Seq != i+1 {
			w.Fatalf("%s: turn %d stands in place %d", session, t.Seq, i+1)
		}
	}
}

// checkWritten looks for every turn that was appended.
func (w *replicated) checkWritten() {
	w.Helper()
	there := make(map[string]int)
	for n := range logs {
		turns := allOf[stored](w, fmt.Sprintf("/sessions/log-%d/turns", n))
		w.gapless(fmt.Sprint("log-", n), turns)
		for _, t := range turns {
			there[t.Content.Text]++
		}
	}
	for key := range w.written {
		if there[key] != 1 {
			w.Errorf("%s was acknowledged and is there %d times", key, there[key])
		}
	}
	// One of each writer may have been under way in the end.
	if len(there) > len(w.written)+writers {
		w.Errorf("%d turns were acknowledged, %d are there", len(w.written), len(there))
	}
}

// checkPublished reads the stream of the bus until every exchange was there.
func (w *replicated) checkPublished(exports map[string]string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
	defer cancel()
	nc, err := nats.Connect(w.nats.URL())
	if err != nil {
		w.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		w.Fatal(err)
	}
	reading, err := js.OrderedConsumer(ctx, "TURNSTONE", jetstream.OrderedConsumerConfig{FilterSubjects: []string{"turnstone.export.*.*"}})
	if err != nil {
		w.Fatal(err)
	}
	waiting := make(map[string]bool)
	for turnID := range exports {
		waiting[turnID] = true
	}
	for len(waiting) > 0 {
		msg, err := reading.Next(jetstream.FetchMaxWait(5 * time.Minute))
		if err != nil {
			w.Fatalf("%d exchanges were not published: %v", len(waiting), err)
		}
		turnID, id := msg.Headers().Get(natsbus.HeaderTurn), msg.Headers().Get(natsbus.HeaderExport)
		if exports[turnID] != id {
			w.Errorf("the exchange of %s was published as %s, and is %s", turnID, id, exports[turnID])
		}
		delete(waiting, turnID)
	}
}

// checkWatchers holds what was seen at each server against what there is.
func (w *replicated) checkWatchers() {
	w.Helper()
	type announced struct {
		ID      string `json:"id"`
		Session string `json:"session_id"`
		Kind    string `json:"kind"`
	}
	var want []string
	ends := make(map[string]bool)
	for _, e := range allOf[announced](w, "/events") {
		want = append(want, e.ID)
		if e.Kind == "session-ended" {
			ends[e.Session] = true
		}
	}
	for session := range w.ended {
		if !ends[session] {
			w.Errorf("the end of %s was not announced", session)
		}
	}
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
	defer cancel()
	for _, watcher := range w.watching {
		got, err := watcher.first(ctx, len(want))
		if !slices.Equal(want, got) {
			w.Errorf("who looked on at %s saw, %v:\n%s", watcher.of.base, err, cmp.Diff(want, got))
		}
	}
}

// allOf reads all pages of a list, each from the next server.
func allOf[T any](w *replicated, path string) (all []T) {
	w.Helper()
	for cursor := ""; ; {
		var page struct {
			Items []T
			Next  string
		}
		text := w.must(http.StatusOK, http.MethodGet, w.next()+path+"?limit=1000&cursor="+url.QueryEscape(cursor), "")
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			w.Fatal(err)
		}
		all = append(all, page.Items...)
		if cursor = page.Next; len(page.Items) == 0 || cursor == "" {
			return all
		}
	}
}
