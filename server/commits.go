package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

func (s *Server) registerCommits(api huma.API) {
	handle(s, api, route{
		method: http.MethodPost, path: "/sessions/{session}/commit", id: "commit", tag: "commits", pace: slow,
		body: s.config.Limits.Turns, decoded: true,
		summary: "Commit a finished exchange, for those who bring their own agent",
		about: "What was said goes into the log, what is worth keeping into memory, goals and notes are changed, and daemons are told. When it is answered, " +
			"all of it is on disk. Where turns are in the log already, turn_id names the one that opened the exchange. " +
			"The same exchange again under the same Idempotency-Key, or export_id, changes nothing.",
	}, commitExchange)
}

// exchangeDoc is a finished exchange: what [commit.DecodeExchange] reads.
type exchangeDoc struct {
	ExportID      string            `json:"export_id,omitempty" doc:"a ULID; one is made if it is left out"`
	TurnID        string            `json:"turn_id,omitempty" doc:"the turn that opened the exchange, where it is in the log"`
	Again         bool              `json:"again,omitempty" doc:"the exchange of turn_id was committed before and failed: this answers it"`
	Turns         []draftDoc        `json:"turns,omitempty"`
	AgentID       string            `json:"agent_id,omitempty"`
	StartedAt     string            `json:"started_at,omitempty" format:"date-time"`
	Urgency       string            `json:"urgency,omitempty" enum:"HIGH,MEDIUM,LOW"`
	Interrupted   bool              `json:"interrupted,omitempty" doc:"the reply was cut short"`
	Failure       string            `json:"failure,omitempty" doc:"why there is no reply"`
	DaemonOutputs []daemonOutputDoc `json:"daemon_outputs,omitempty"`
	Errors        []string          `json:"errors,omitempty"`
	Warnings      []string          `json:"warnings,omitempty"`
	BudgetUsed    int64             `json:"budget_used,omitempty"`
	BudgetTotal   int64             `json:"budget_total,omitempty"`
	Candidates    []candidateDoc    `json:"candidates,omitempty" doc:"what may be worth remembering"`
	Intentions    changesDoc        `json:"intentions,omitempty"`
	Scratch       noteChangesDoc    `json:"scratch,omitempty"`
	FollowUp      followUpGiven     `json:"follow_up,omitempty" doc:"the follow-up context, as it is shown"`
}

// followUpGiven is a follow-up context as it is shown, which is null where there is none.
type followUpGiven struct{}

// Schema is for huma.
func (followUpGiven) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeObject, AdditionalProperties: true}, {Type: "null"}}}
}

// candidateDoc is what may be worth remembering: what [memory.DecodeCandidate] reads.
type candidateDoc struct {
	Type     string   `json:"type" doc:"user_data, tool_execution, observation, error, scratch_item or event; any other is taken as an event and its name as a tag"`
	Text     string   `json:"text,omitempty" doc:"what it says; needed where there is no data"`
	Data     any      `json:"data,omitempty" doc:"any JSON, kept byte for byte"`
	DataText string   `json:"data_text,omitempty" doc:"the data as the text of its JSON, in place of data"`
	Tags     []string `json:"tags,omitempty"`
	Links    linksDoc `json:"links,omitempty"`
	Source   string   `json:"source,omitempty" enum:"user,agent,tool,system,daemon" doc:"who it comes from, by which it is trusted: like the system's if it is left out"`
	Inputs   givenDoc `json:"inputs,omitempty"`
}

type linksDoc struct {
	Turns []string `json:"turns,omitempty" doc:"ids of turns, which are not looked up"`
	Items []string `json:"items,omitempty" doc:"ids of items of memory, which are not looked up"`
}

// givenDoc is what is given of a candidate's importance.
type givenDoc struct {
	RelevanceToGoals float64 `json:"relevance_to_goals,omitempty" minimum:"0" maximum:"1" doc:"in place of what would be computed"`
	RelevanceToUser  float64 `json:"relevance_to_user,omitempty" minimum:"0" maximum:"1" doc:"in place of what would be computed"`
	Confidence       float64 `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"in place of what would be computed"`
	Novelty          float64 `json:"novelty,omitempty" minimum:"0" maximum:"1" doc:"in place of what would be computed"`
	Actionability    float64 `json:"actionability,omitempty" minimum:"0" maximum:"1" doc:"in place of what would be computed"`
}

type daemonOutputDoc struct {
	Daemon string `json:"daemon"`
	Output string `json:"output"`
}

// committedDoc is what became of an exchange: what [commit.Result.AppendJSON] writes.
type committedDoc struct {
	Session    string       `json:"session_id"`
	Status     string       `json:"status"`
	ExportID   string       `json:"export_id"`
	TurnID     string       `json:"turn_id,omitempty"`
	Repeated   bool         `json:"repeated" doc:"it was committed before, and nothing was written"`
	Reply      string       `json:"reply,omitempty"`
	Turns      []turnDoc    `json:"turns" doc:"the turns that were written, of what was committed before all of the exchange"`
	Reopened   bool         `json:"reopened,omitempty" doc:"the session had ended and goes on with this exchange"`
	Remembered []object     `json:"remembered"`
	Dropped    []droppedDoc `json:"dropped" doc:"what was not remembered, and why: the first 100"`
	More       int64        `json:"dropped_more,omitempty" doc:"how many more were not"`
	Changed    []changedDoc `json:"changed" doc:"goals, actions and notes as they are now: what was made has its id here"`
	Refused    []refusalDoc `json:"refused" doc:"changes that are not legal"`
	Deferred   []string     `json:"deferred" doc:"what could not be written yet and is tried again"`
	Problems   []string     `json:"problems"`
}

type droppedDoc struct {
	Candidate  int     `json:"candidate"`
	Type       string  `json:"type"`
	Reason     string  `json:"reason"`
	Importance float64 `json:"importance"`
}

type changedDoc struct {
	Kind   string `json:"kind" enum:"goal,action,observation" doc:"what it is"`
	ID     string `json:"id"`
	Title  string `json:"title,omitempty" doc:"what a goal or an action is called, or how a note that is live begins"`
	Status string `json:"status"`
}

type refusalDoc struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}

type commitInput struct {
	InSession
	Create         bool   `query:"create" doc:"make the session where there is none"`
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"200" doc:"the same request again under the same key changes nothing"`
	Body           read[exchangeDoc]
}

func commitExchange(ctx context.Context, eng *turnstone.Engine, in *commitInput) (*answer[exact[committedDoc]], error) {
	ex, err := commit.DecodeExchange(in.Body.text)
	if err != nil {
		return nil, err
	}
	if in.IdempotencyKey != "" {
		if ex.ExportID != "" {
			return nil, invalid.New("export_id", "is given beside the header Idempotency-Key", "give one of them")
		}
		ex.Key = in.IdempotencyKey
	}
	var result commit.Result
	err = writing(ctx, eng, in.Session, in.Create, func(s *turnstone.Session) (err error) {
		result, err = s.Commit(ctx, ex)
		return err
	})
	if err != nil {
		return nil, err
	}
	return exactly[committedDoc](result.AppendJSON(nil, in.Session)), nil
}
