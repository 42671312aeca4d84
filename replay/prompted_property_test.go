package replay_test

import (
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// prompted compiles a prompt or pins a turn.
func (s *story) prompted() {
	if rapid.IntRange(0, 2).Draw(s.rapid, "pin") == 0 {
		s.pin()
		return
	}
	var settings *prompt.Settings
	if rapid.IntRange(0, 2).Draw(s.rapid, "settled") == 0 {
		settings = s.settings()
	}
	var late []string
	if rapid.Bool().Draw(s.rapid, "late") {
		late = []string{s.text()}
	}
	s.w.compile(s.key, rapid.SampledFrom([]int{2048, 2048, 131072}).Draw(s.rapid, "context"), settings, late...)
}

func (s *story) settings() *prompt.Settings {
	some := prompt.Settings{System: rapid.SampledFrom([]string{"", "Be brief.", s.text()}).Draw(s.rapid, "system")}
	if rapid.Bool().Draw(s.rapid, "mandates") {
		some.Mandates, some.Checks = []string{s.text()}, []string{s.text()}
	}
	if rapid.Bool().Draw(s.rapid, "files") {
		some.Sticky = []prompt.Material{{Name: "a.txt", Text: s.text()}, {Name: "empty.txt"}}
		some.Skills = []prompt.Material{{Name: "brevity", Text: some.System}}
	}
	if rapid.Bool().Draw(s.rapid, "tools") {
		some.Tools = []prompt.Definition{{Name: "look", Description: s.text(), Schema: `{"type": "object"}`}}
	}
	return &some
}

// pin pins one of the turns that a prompt can show, or no longer.
func (s *story) pin() {
	var shown []int64
	for _, t := range s.turns {
		if t.Kind == turn.KindTurn {
			shown = append(shown, t.Seq)
		}
	}
	if len(shown) > 0 {
		s.w.pin(s.key, rapid.SampledFrom(shown).Draw(s.rapid, "pinned"), rapid.Bool().Draw(s.rapid, "hold"))
	}
}
