package replay_test

import (
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/turn"
)

func text(role turn.Role, s string) turn.Draft {
	return turn.Draft{Role: role, Content: turn.Text{Text: s}}
}

func calling(calls ...turn.ToolCall) turn.Draft {
	return turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: calls}}
}

func call(id, name, arguments string) turn.ToolCall {
	return turn.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func result(id, name string, status turn.CallStatus, value string) turn.Draft {
	return turn.Draft{Role: turn.System, Content: turn.Result{Name: name, CallID: id, Status: status, Result: value}}
}

// trip makes a session with everything that version 1 of the format knows. The golden bundles are
// made of it: it must stay as it is for as long as they do.
func (w *world) trip() turn.Key {
	w.Helper()
	k := w.create("trip")
	confidence := 0.83
	picture := turn.Image{MediaType: "image/png", Alt: "a tram", Blob: turn.Blob{Data: []byte("\x89PNG made up \x00\xff")}}

	first := text(turn.User, "Hello! I want to go to \"Lisbon\" \\ Lisboa 🏳️‍🌈\nin\tMay.\u2028")
	first.IdempotencyKey = "request-1"
	thinking := turn.Draft{
		Role: turn.Agent, Content: turn.Text{Text: "When in May?", Thinking: "ask for <dates>"},
		Meta: turn.Meta{Tokens: 12, Model: "made-up-1", Latency: 1_234_567_000},
	}
	turns := w.say(k, first, thinking)
	w.believe(k, func(s *dialogue.State) error {
		_, _, err := s.StackOn("flow-1", "book trip", dialogue.Options{Slots: []dialogue.Slot{
			{Name: "city", Value: `"Lisbon"`, FilledBy: turns[0].ID}, {Name: "nights", Type: dialogue.TypeNumber},
		}})
		if err != nil {
			return err
		}
		return s.Attach(turns[0].ID)
	})

	spoken := turn.Draft{Role: turn.User, Content: turn.Speech{
		Transcript: "the third to the fifth", Language: "en", Confidence: &confidence,
		Audio: &turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{Data: []byte("OggS made up")}},
	}}
	shown := turn.Draft{Role: turn.User, Content: picture, MessageID: "m-7"}
	caption := text(turn.User, "like this")
	caption.MessageID = "m-7"
	clicked := turn.Draft{Role: turn.User, Content: turn.Action{Name: "click", Target: "map", Payload: "{\n  \"x\": 1.50,\r\n  \"y\": -0\n}"}}
	turns = w.say(k, spoken, shown, caption, clicked, shown, turn.Draft{Role: turn.User, Content: turn.Speech{Transcript: "hm"}})
	w.believe(k, func(s *dialogue.State) error {
		if err := s.SetSlot("nights", "2", turns[0].ID); err != nil {
			return err
		}
		if err := s.SetSlot("where", "{\n \"map\": [1.50, -0]}", turns[3].ID); err != nil {
			return err
		}
		return s.Attach(turns[3].ID)
	})
	// A flow that begins and ends inside one exchange is in no revision.
	w.believe(k, func(s *dialogue.State) error {
		if _, _, err := s.StackOn("flow-2", "what is on the picture", dialogue.Options{}); err != nil {
			return err
		}
		if err := s.Attach(turns[4].ID); err != nil {
			return err
		}
		if _, err := s.Complete(`"a tram"`); err != nil {
			return err
		}
		_, err := s.KeepGoing(turns[4].ID)
		return err
	})
	w.bookmark(k, "before-search", 8)

	w.say(k, calling(call("c1", "flights", `{"to": "LIS",  "on":"05-03"}`), call("c2", "hotels", "[\n]")))
	w.say(k, text(turn.User, "not too dear"), result("c2", "hotels", turn.CallError, `"none\u0000 free"`))
	w.say(k, result("c1", "flights", turn.CallOK, `[{"price":1e2}]`), turn.Draft{Role: turn.System, Content: turn.Action{Name: "tick"}})
	w.say(k, turn.Draft{Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "A trip in May."}, Covers: turn.Range{From: 1, To: 9}})
	w.bookmark(k, "after-search", 14)
	w.say(k, text(turn.System, "Be brief."), calling(call("c3", "book", `null`)))
	w.say(k, turn.Draft{Role: turn.System, Content: turn.Result{Name: "book", CallID: "c3", Status: turn.CallCancelled, Synthetic: true}})
	w.believe(k, func(s *dialogue.State) error {
		_, err := s.Fallback("flow-3", "talk to a person")
		return err
	})
	w.say(k, turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "One moment.", ToolCalls: []turn.ToolCall{call("c4", "book", "{}"), call("c3", "pay", "{}")}}})
	w.say(k, text(turn.User, "Thanks!"))
	return k
}

// detour makes a fork of the trip after turn 14, with turns, calls and flows of its own.
func (w *world) detour(trip turn.Key) turn.Key {
	w.Helper()
	k := w.fork(trip, 14, "detour")
	w.believe(k, func(s *dialogue.State) error { return s.SetStage("changed my mind") })
	again := text(turn.User, "Porto instead")
	again.IdempotencyKey = "request-1"
	turns := w.say(k, again, calling(call("c1", "trains", `{"to":"OPO"}`)))
	w.believe(k, func(s *dialogue.State) error {
		if err := s.SetSlot("city", `"Porto"`, turns[0].ID); err != nil {
			return err
		}
		if err := s.Attach(turns[0].ID); err != nil {
			return err
		}
		_, err := s.Complete("")
		return err
	})
	w.bookmark(k, "porto", 15)
	w.say(k, result("c1", "trains", turn.CallOK, "[]"), calling(call("c9", "trains", `{}`)))
	w.end(k)
	return k
}
