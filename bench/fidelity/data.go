package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/bench/talks"
	"github.com/turnstone-dev/turnstone/budget/bpe"
)

// set is conversations that are replayed with one window. The models count as the evaluator does.
type set struct {
	name, model   string
	window, least int // tokens; shorter conversations are passed over
	conversations []conversation
}

type conversation struct {
	name  string
	lines []byte // a saying or a message each
}

// generated is how many conversations with tools are made up.
const generated = 3

// sets are the conversations of about four windows: two people, meetings, and agents at work.
func (f *fidelity) sets() ([]set, error) {
	chats, err := locomo(f.data)
	if err != nil {
		return nil, err
	}
	meetings, err := qmsum(f.data)
	if err != nil {
		return nil, err
	}
	var tools []conversation
	for seed := range uint64(generated) {
		tools = append(tools, conversation{fmt.Sprint("tools-", seed), talks.Tools(seed, 128_000, bpe.Cl100k().Count)})
	}
	return []set{
		{"LoCoMo dev at 8,192", "gpt-4", 8192, 0, chats},
		{"QMSum val at 8,192", "gpt-4", 8192, 16_000, meetings},
		{"generated tool conversations at 32,768", "gpt-4-turbo", 32_768, 0, tools},
	}, nil
}

// saying is a line of a conversation of people.
type saying struct {
	Session string `json:"session,omitempty"`
	Time    string `json:"time,omitempty"`
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
}

func encode(sayings []saying) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, s := range sayings {
		if err := enc.Encode(s); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// locomo reads chats: sessions in the order of their numbers, with the captions of pictures as the evaluator
// shows them.
func locomo(data string) ([]conversation, error) {
	files, err := filepath.Glob(filepath.Join(data, "locomo", "*.dev.json"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("%d chats in %s, want one file", len(files), data)
	}
	var records []struct {
		ID           string `json:"sample_id"`
		Conversation map[string]json.RawMessage
	}
	if err := decode(files[0], &records); err != nil {
		return nil, err
	}
	var all []conversation
	for _, r := range records {
		sayings, err := sessions(r.Conversation)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		lines, err := encode(sayings)
		if err != nil {
			return nil, err
		}
		all = append(all, conversation{r.ID, lines})
	}
	return all, nil
}

func sessions(members map[string]json.RawMessage) ([]saying, error) {
	var numbers []int
	for name := range members {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "session_")); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var all []saying
	for _, n := range numbers {
		name := fmt.Sprint("session_", n)
		var turns []struct {
			Speaker, Text string
			Caption       string `json:"blip_caption"`
		}
		if err := json.Unmarshal(members[name], &turns); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var time string
		if when, ok := members[name+"_date_time"]; ok {
			if err := json.Unmarshal(when, &time); err != nil {
				return nil, fmt.Errorf("time of %s: %w", name, err)
			}
		}
		for _, t := range turns {
			if t.Caption != "" {
				t.Text += " (shared " + t.Caption + ")"
			}
			all = append(all, saying{fmt.Sprint(n), time, t.Speaker, t.Text})
		}
	}
	return all, nil
}

// qmsum reads meetings, a file each.
func qmsum(data string) ([]conversation, error) {
	files, err := filepath.Glob(filepath.Join(data, "qmsum", "val", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no meetings in %s", data)
	}
	var all []conversation
	for _, file := range files {
		var meeting struct {
			Transcript []struct{ Speaker, Content string } `json:"meeting_transcripts"`
		}
		if err := decode(file, &meeting); err != nil {
			return nil, err
		}
		sayings := make([]saying, len(meeting.Transcript))
		for i, t := range meeting.Transcript {
			sayings[i] = saying{Speaker: t.Speaker, Text: t.Content}
		}
		lines, err := encode(sayings)
		if err != nil {
			return nil, err
		}
		all = append(all, conversation{strings.TrimSuffix(filepath.Base(file), ".json"), lines})
	}
	return all, nil
}

func decode(file string, to any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
