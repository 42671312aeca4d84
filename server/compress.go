package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
)

func (s *Server) registerCompression(api huma.API) {
	in := func(method, path, id, summary, about string) route {
		return route{method: method, path: "/sessions/{session}" + path, id: id, tag: "compression", summary: summary, about: about}
	}
	handleSession(s, api, in(http.MethodGet, "/status", "getStatus", "How full the window is, and how far to rely on what the model sees", "Nothing is noted of it."), status)
	pass := in(http.MethodPost, "/compress", "compress", "Have turns leave the prompt now, and summaries stand for them",
		"It takes place in one transaction, after a snapshot. If nothing would become smaller, compressed is false.")
	pass.pace = slow
	handleSession(s, api, pass, compressNow)
	handleSession(s, api, in(http.MethodPost, "/undo", "undo", "Take back the last change of the prompt, a pass or a restore",
		"What it took out of the prompt is shown again, word for word. With a pass it is that one."), undo)
	handleSession(s, api, in(http.MethodGet, "/checkpoints", "listCheckpoints", "The summaries that stand in the prompt, oldest first", ""), listCheckpoints)
	handleSession(s, api, in(http.MethodGet, "/checkpoints/{number}", "getCheckpoint", "A checkpoint: what it stands for and its summary",
		"Without a version it is the one in the prompt, or the last. One that was emptied, since something that it told was forgotten, is gone."), showCheckpoint)
	handleSession(s, api, in(http.MethodGet, "/checkpoints/{number}/receipt", "getReceipt", "What was checked in the summary of a checkpoint", ""), showReceipt)
	handleSession(s, api, in(http.MethodGet, "/checkpoints/{number}/diff", "diffCheckpoint", "What a checkpoint lost and gained from one version to another",
		"Without versions the last two are compared."), diffCheckpoint)
	handleSession(s, api, in(http.MethodGet, "/pins", "listPins", "The turns that stand in every prompt, word for word", ""), listPins)
	handleSession(s, api, in(http.MethodPut, "/pins/{seq}", "pin", "Keep a turn in every prompt from now on", "Pinning it again changes nothing."), pin)
	handleSession(s, api, in(http.MethodDelete, "/pins/{seq}", "unpin", "Pin a turn no longer", "It takes effect when the next epoch is opened."), unpin)
}

type statusShown struct {
	Session     string      `json:"session_id"`
	Model       string      `json:"model,omitempty"`
	Reliability reliability `json:"reliability"`
	Passes      int64       `json:"compressions" doc:"how many passes are in force: those that were undone are not"`
	Generations int         `json:"generations" doc:"how many lossy generations lie between the log and the prompt"`
	Pins        int         `json:"pins"`
	PinsShown   int         `json:"pins_shown"`
	Facts       int         `json:"facts"`
	FactsHeld   int         `json:"facts_held"`
	FactsNamed  int         `json:"facts_named"`
	Goals       int         `json:"goal_parts"`
	GoalsHeld   int         `json:"goal_parts_held"`
	Turns       int64       `json:"turns" doc:"how many have a number: turns, and the summaries in the log, which prompts do not show"`
	Shown       int64       `json:"turns_shown"`
	Whole       bool        `json:"whole" doc:"nothing is missing: no turn has left the prompt, and it holds all pins and parts of the goal; the reliability is then nothing but how the model is rated by its size"`
	Epoch       int64       `json:"epoch"`
	Account     Account     `json:"account"`
}

type reliability struct {
	Score   float64  `json:"score"`
	Level   string   `json:"level" enum:"high,medium,low,critical"`
	Meaning string   `json:"meaning"`
	Advice  []string `json:"advice,omitempty" doc:"what can be done, where the level is low or critical and turns have left the prompt"`
}

type statusInput struct {
	InSession
	Model   string `query:"model" doc:"who the prompt is for; the session's model if it is left out"`
	Context int    `query:"context" minimum:"1" doc:"the size of the model's context in tokens"`
}

func status(ctx context.Context, s *turnstone.Session, in *statusInput) (*answer[statusShown], error) {
	st, err := s.Status(ctx, turnstone.PromptOptions{Model: in.Model, Context: in.Context})
	if err != nil {
		return nil, err
	}
	level := st.Reliability.Level
	profile, known := EngineOf(ctx).Profile(st.Prompt.Model)
	return answered(statusShown{
		Session: s.ID(), Model: st.Prompt.Model, Passes: st.Passes, Generations: st.Generations, Goals: st.Goals, GoalsHeld: st.GoalsHeld,
		Pins: st.Pins, PinsShown: st.PinsHeld, Facts: st.Facts, FactsHeld: st.FactsHeld, FactsNamed: st.FactsNamed, Turns: st.Turns, Shown: st.Shown, Whole: st.Whole,
		Reliability: reliability{math.Round(1e4*st.Reliability.Score) / 1e4, string(level), level.Meaning(), Advice(st, profile, known, "?context=")},
		Epoch:       st.Prompt.Epoch, Account: NewAccount(st.Prompt.Account),
	}), nil
}

// passDoc is a compression that was made.
type passDoc struct {
	Session     string          `json:"session_id"`
	Compressed  bool            `json:"compressed"`
	Reason      string          `json:"reason,omitempty" doc:"why nothing was compressed"`
	Pass        int64           `json:"pass,omitempty"`
	From        int64           `json:"from,omitempty" doc:"the first turn that left; left out where older checkpoints only became smaller"`
	To          int64           `json:"to,omitempty" doc:"the last turn that left"`
	Before      int             `json:"before,omitempty" doc:"tokens of the prompt before"`
	After       int             `json:"after,omitempty"`
	Checkpoints []checkpointDoc `json:"checkpoints,omitempty"`
}

type compressInput struct {
	InSession
	Body *Addressee
}

func compressNow(ctx context.Context, s *turnstone.Session, in *compressInput) (*answer[exact[passDoc]], error) {
	p, err := s.Compress(ctx, valueOf(in.Body).options())
	if errors.Is(err, turnstone.ErrNothingToCompress) {
		return exactly[passDoc](fmt.Appendf(nil, `{"session_id":%q,"compressed":false,"reason":%q}`, s.ID(),
			"the newest turns stay, and without the others the prompt would not become smaller")), nil
	}
	if err != nil {
		return nil, err
	}
	text := fmt.Appendf(nil, `{"session_id":%q,"compressed":true,"pass":%d,`, s.ID(), p.Number)
	if p.Range.To > 0 {
		text = fmt.Appendf(text, `"from":%d,"to":%d,`, p.Range.From, p.Range.To)
	}
	text = fmt.Appendf(text, `"before":%d,"after":%d,"checkpoints":`, p.Before, p.After)
	text = list(text, p.Made, func(dst []byte, c compress.Checkpoint) []byte { return c.AppendShown(dst, s.ID()) })
	return exactly[passDoc](append(text, '}')), nil
}

type undone struct {
	Session string `json:"session_id"`
	Undone  string `json:"undone" enum:"pass,restore"`
	Pass    int64  `json:"pass,omitempty"`
	From    int64  `json:"from,omitempty" doc:"the first turn that came back"`
	To      int64  `json:"to,omitempty"`
	Epoch   int64  `json:"epoch"`
}

type undoInput struct {
	InSession
	Body *undoDraft
}

type undoDraft struct {
	Addressee
	Pass int64 `json:"pass,omitempty" minimum:"1" doc:"the pass to take back; the last change if it is left out"`
}

func undo(ctx context.Context, s *turnstone.Session, in *undoInput) (*answer[undone], error) {
	what := valueOf(in.Body)
	done, err := s.Undo(ctx, what.Pass, what.options())
	if err != nil {
		return nil, err
	}
	kind := "pass"
	if done.Pass == 0 {
		kind = "restore"
	}
	return answered(undone{s.ID(), kind, done.Pass, done.Turns.From, done.Turns.To, done.Epoch}), nil
}
