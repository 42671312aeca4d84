package demo

import (
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
)

// Place is where something that was said can be found when everything was said.
type Place string

// The places, the nearest first.
const (
	// Verbatim: the last prompt shows the turn itself.
	Verbatim Place = "verbatim"
	// Kept: the last prompt has the words elsewhere, in the goal or in a checkpoint.
	Kept Place = "kept"
	// Recalled: the turn has left the prompt, and a search for its question finds it.
	Recalled Place = "recalled"
	// Logged: it stands in the log, where history shows it.
	Logged Place = "logged"
)

// Finding is where something was found.
type Finding struct {
	Probe
	Turn  int64
	Place Place
	// Pinned is whether the turn was pinned.
	Pinned bool
}

// look finds what was said, first in the messages that a model would have been sent.
func (p *player) look(ctx context.Context, probe Probe) (Finding, error) {
	t, err := p.turnOf(probe)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Probe: probe, Turn: t.Seq, Place: Logged, Pinned: slices.Contains(p.pinned, t.Seq)}
	if place := placeIn(p.last.Messages, t.Seq, probe.Text); place != "" {
		f.Place = place
		return f, nil
	}
	hits, err := p.session.Recall(ctx, probe.Ask, turnstone.RecallOptions{Unseen: true})
	if err != nil {
		return Finding{}, err
	}
	for _, h := range hits {
		if strings.Contains(h.Text, probe.Text) {
			f.Place = Recalled
		}
	}
	return f, nil
}

// placeIn says where messages hold a text, the turn itself before anything else; nothing if they do not.
func placeIn(messages []prompt.Message, seq int64, text string) (place Place) {
	for i := range messages {
		for _, part := range messages[i].Parts {
			switch {
			case !strings.Contains(part.Text, text):
			case slices.Contains(messages[i].Seqs, seq):
				return Verbatim
			default:
				place = Kept
			}
		}
	}
	return place
}
