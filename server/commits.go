package server

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/oklog/ulid/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
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
	Candidates    []object          `json:"candidates,omitempty" doc:"what may be worth remembering: type, text, tags and so on"`
	Intentions    object            `json:"intentions,omitempty" doc:"changes of goals and actions"`
	Scratch       object            `json:"scratch,omitempty" doc:"changes of the notes"`
	FollowUp      object            `json:"follow_up,omitempty" doc:"the follow-up context"`
}

type daemonOutputDoc struct {
	Daemon string `json:"daemon"`
	Output string `json:"output"`
}

// committedDoc is what became of an exchange.
type committedDoc struct {
	Session    string       `json:"session_id"`
	Status     string       `json:"status"`
	ExportID   string       `json:"export_id"`
	TurnID     string       `json:"turn_id,omitempty"`
	Repeated   bool         `json:"repeated" doc:"it was committed before, and nothing was written"`
	Reply      string       `json:"reply,omitempty"`
	Turns      []turnDoc    `json:"turns" doc:"the turns that were written"`
	Remembered []object     `json:"remembered"`
	Dropped    []droppedDoc `json:"dropped" doc:"what was not remembered, and why"`
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
		ex.ExportID = exportID(in.Session, in.IdempotencyKey)
	}
	var result commit.Result
	err = writing(ctx, eng, in.Session, in.Create, func(s *turnstone.Session) (err error) {
		result, err = s.Commit(ctx, ex)
		return err
	})
	if err != nil {
		return nil, err
	}
	return exactly[committedDoc](committedFields.Append(nil, &committed{session: in.Session, repeated: result.Repeated, Result: result})), nil
}

// exportID is the id of the exchange that a key names in a session: the same for the same key, wherever it is asked.
func exportID(session, key string) string {
	if ids.Valid(key) {
		return key
	}
	sum := sha256.Sum256([]byte(session + "\x00" + key))
	return ulid.ULID(sum[:16]).String()
}

type committed struct {
	session  string
	repeated bool
	commit.Result
}

var (
	committedFields = record.Fields[committed]{
		record.Value("session_id", func(c *committed) *string { return &c.session }, word),
		record.Value("status", func(c *committed) *commit.State { return &c.Status }, record.Text[commit.State]()),
		record.Value("export_id", func(c *committed) *string { return &c.ExportID }, word),
		record.Value("turn_id", func(c *committed) *string { return &c.TurnID }, word),
		record.Value("repeated", func(c *committed) *bool { return &c.repeated }, record.Bool()).Always(),
		record.Value("reply", func(c *committed) *string { return &c.Reply }, word),
		record.List("turns", func(c *committed) *[]turn.Turn { return &c.Turns }, record.Codec[turn.Turn]{
			Append: func(dst []byte, t turn.Turn) []byte { return t.AppendJSON(dst) },
		}).Always(),
		record.List("remembered", func(c *committed) *[]memory.Episode { return &c.Episodes }, record.Codec[memory.Episode]{
			Append: func(dst []byte, e memory.Episode) []byte { return e.AppendJSON(dst) },
		}).Always(),
		record.List("dropped", func(c *committed) *[]memory.Dropped { return &c.Dropped }, record.Of(droppedFields)).Always(),
		record.List("refused", func(c *committed) *[]commit.Refusal { return &c.Refused }, record.Of(refusalFields)).Always(),
		record.List("deferred", func(c *committed) *[]commit.Target { return &c.Deferred }, record.Text[commit.Target]()).Always(),
		record.List("problems", func(c *committed) *[]string { return &c.Problems }, word).Always(),
	}

	droppedFields = record.Fields[memory.Dropped]{
		record.Value("candidate", func(d *memory.Dropped) *int { return &d.Index }, record.Codec[int]{
			Append: func(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) },
		}).Always(),
		record.Value("type", func(d *memory.Dropped) *memory.Type { return &d.Type }, record.Text[memory.Type]()),
		record.Value("reason", func(d *memory.Dropped) *memory.Reason { return &d.Reason }, record.Text[memory.Reason]()),
		record.Value("importance", func(d *memory.Dropped) *float64 { return &d.Importance }, record.Float()).Always(),
	}

	refusalFields = record.Fields[commit.Refusal]{
		record.Value("what", func(r *commit.Refusal) *string { return &r.What }, word),
		record.Value("reason", func(r *commit.Refusal) *string { return &r.Reason }, word),
	}
)
