package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

func (s *Server) registerIntentions(api huma.API) {
	handleSession(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/intentions", id: "intend", tag: "goals", decoded: true,
		summary: "Change several goals and actions, all or nothing",
		about:   "They are changed in their order, goals first. The answer is what became of those that changed.",
	}, intend)
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/decisions", id: "listDecisions", tag: "goals",
		summary: "The decisions of a session's goals",
	}, func(ctx context.Context, s *turnstone.Session, in *intentionsInput) (*answer[page[goalDecision]], error) {
		return partsOf(ctx, s, in, func(g cortex.Goal) (all []goalDecision) {
			for _, d := range g.Decisions {
				all = append(all, goalDecision{g.ID, d.Description, d.Rationale, d.Locked})
			}
			return all
		})
	})
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/milestones", id: "listMilestones", tag: "goals",
		summary: "The milestones of a session's goals",
	}, func(ctx context.Context, s *turnstone.Session, in *intentionsInput) (*answer[page[goalMilestone]], error) {
		return partsOf(ctx, s, in, func(g cortex.Goal) (all []goalMilestone) {
			for _, m := range g.Milestones {
				all = append(all, goalMilestone{g.ID, m.Description, string(m.Status)})
			}
			return all
		})
	})
	handleSession(s, api, route{
		method: http.MethodGet, path: "/sessions/{session}/artifacts", id: "listArtifacts", tag: "goals",
		summary: "What was made or changed for a session's goals",
	}, func(ctx context.Context, s *turnstone.Session, in *intentionsInput) (*answer[page[goalArtifact]], error) {
		return partsOf(ctx, s, in, func(g cortex.Goal) (all []goalArtifact) {
			for _, a := range g.Artifacts {
				all = append(all, goalArtifact{g.ID, a.Path, a.Type, string(a.Action)})
			}
			return all
		})
	})
}

type goalDecision struct {
	GoalID      string `json:"goal_id"`
	Description string `json:"description"`
	Rationale   string `json:"rationale,omitempty"`
	Locked      bool   `json:"locked,omitempty"`
}

type goalMilestone struct {
	GoalID      string `json:"goal_id"`
	Description string `json:"description"`
	Status      string `json:"status" enum:"pending,in-progress,completed"`
}

type goalArtifact struct {
	GoalID string `json:"goal_id"`
	Path   string `json:"path"`
	Type   string `json:"type"`
	Action string `json:"action" enum:"created,modified,deleted"`
}

// partsOf are parts of all goals, in the order of the goals.
func partsOf[T any](ctx context.Context, s *turnstone.Session, in *intentionsInput, parts func(cortex.Goal) []T) (*answer[page[T]], error) {
	state, err := s.Intentions(ctx, in.All)
	if err != nil {
		return nil, err
	}
	all := []T{}
	for _, g := range state.Goals() {
		all = append(all, parts(g)...)
	}
	return answered(page[T]{Items: all}), nil
}

type changesDoc struct {
	Goals   []goalChangeDoc   `json:"goals,omitempty"`
	Actions []actionChangeDoc `json:"actions,omitempty"`
}

type intendedDoc struct {
	Goals   []goalDoc   `json:"goals"`
	Actions []actionDoc `json:"actions"`
}

type intendInput struct {
	InSession
	Body read[changesDoc]
}

func intend(ctx context.Context, s *turnstone.Session, in *intendInput) (*answer[exact[intendedDoc]], error) {
	changes, err := cortex.DecodeChanges(in.Body.text)
	if err != nil {
		return nil, err
	}
	if len(changes.Goals)+len(changes.Actions) == 0 {
		return nil, invalid.New("goals", "are missing", "give goals or actions")
	}
	staged, err := s.Intend(ctx, changes)
	if err != nil {
		return nil, err
	}
	var goals, actions []string
	for _, row := range staged.Rows {
		if row.Kind == cortex.KindGoal {
			goals = append(goals, row.Doc)
		} else {
			actions = append(actions, row.Doc)
		}
	}
	doc := func(dst []byte, doc string) []byte { return append(dst, doc...) }
	text := list([]byte(`{"goals":`), goals, doc)
	text = list(append(text, `,"actions":`...), actions, doc)
	return exactly[intendedDoc](append(text, '}')), nil
}

type versionsDoc struct {
	Items []versionDoc `json:"items"`
}

type versionDoc struct {
	Version  int64    `json:"version"`
	AfterSeq int64    `json:"after_seq" doc:"the turn that was the last one then"`
	At       string   `json:"at" format:"date-time"`
	Changes  []object `json:"changes" doc:"who changed what, and why"`
	Doc      object   `json:"doc" doc:"what it was then"`
}

type intentionsInput struct {
	InSession
	All bool `query:"all" doc:"also those that are finished"`
}

// items is an answer of a list that has no pages.
func items[D, T any](all []T, appendJSON func(dst []byte, item T) []byte) *answer[exact[D]] {
	return exactly[D](append(list([]byte(`{"items":`), all, appendJSON), '}'))
}

// version is the tag of what counts its changes.
func version(n int64) string { return tag(strconv.FormatInt(n, 10)) }

// aim has a change be of the goal or action that the path names, in the version that was seen, unless it names another.
func aim(id *string, version *int64, ofID string, ofVersion int64) error {
	if *id != "" && *id != ofID {
		return invalid.New("id", "is not that of the path", "leave it out")
	}
	*id = ofID
	if *version == 0 {
		*version = ofVersion
	}
	return nil
}

// ofChange is an error of changes of which there was one, the body of the request, by the body's own field.
func ofChange(err error) error {
	var refused *turnstone.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	own := *refused
	_, own.Field, _ = strings.Cut(refused.Field, ".")
	return &own
}

// after is a goal or action after one change: as it was written or, where that changed nothing, as it was.
func after[T any](staged *cortex.Staged, before *T, decode func(doc string) (T, error), find func() (T, error)) (T, error) {
	switch {
	case len(staged.Rows) > 0:
		return decode(staged.Rows[len(staged.Rows)-1].Doc)
	case before != nil:
		return *before, nil
	}
	return find()
}

// versions is the history of a goal or an action.
func versions(ctx context.Context, s *turnstone.Session, kind cortex.Kind, id string) (*answer[exact[versionsDoc]], error) {
	entries, err := s.IntentionHistory(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	text := []byte(`{"items":[`)
	for i, e := range entries {
		head, err := json.Marshal(versionHead{e.Version, e.AfterSeq, timeText(e.At), listOf(e.Changes)})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, head[:len(head)-1]...)
		text = append(append(text, `,"doc":`...), e.Doc...)
		text = append(text, '}')
	}
	return exactly[versionsDoc](append(text, "]}"...)), nil
}

// versionHead is all of a version but what it was of.
type versionHead struct {
	Version  int64          `json:"version"`
	AfterSeq int64          `json:"after_seq"`
	At       string         `json:"at"`
	Changes  []cortex.Audit `json:"changes"`
}
