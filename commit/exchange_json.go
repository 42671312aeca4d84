package commit

import (
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/turn"
)

// DecodeExchange reads an exchange from JSON, for agents that are written in another language. Unknown
// fields, and what no commit would take, are refused by name.
func DecodeExchange(data string) (Exchange, error) {
	ex, err := exchangeFields.Decode(data)
	if err == nil {
		err = ex.check()
	}
	if err != nil {
		return Exchange{}, err
	}
	return ex, nil
}

var exchangeFields = record.Fields[Exchange]{
	record.Value("export_id", func(x *Exchange) *string { return &x.ExportID }, givenCodec),
	record.Value("turn_id", func(x *Exchange) *string { return &x.Opened }, givenCodec),
	record.Value("again", func(x *Exchange) *bool { return &x.Again }, record.Bool()),
	record.Few("turns", func(x *Exchange) *[]turn.Draft { return &x.Turns }, draftCodec, MaxTurns),
	record.Value("agent_id", func(x *Exchange) *string { return &x.AgentID }, word),
	record.Value("started_at", func(x *Exchange) *time.Time { return &x.Started }, record.Time()),
	record.Value("urgency", func(x *Exchange) *Urgency { return &x.Urgency }, record.Text[Urgency]()),
	record.Value("interrupted", func(x *Exchange) *bool { return &x.Interrupted }, record.Bool()),
	record.Value("failure", func(x *Exchange) *string { return &x.Failure }, word),
	record.Few("daemon_outputs", func(x *Exchange) *[]DaemonOutput { return &x.DaemonOutputs }, record.Of(outputFields), MaxMessages),
	record.Few("errors", func(x *Exchange) *[]string { return &x.Errors }, word, MaxMessages),
	record.Few("warnings", func(x *Exchange) *[]string { return &x.Warnings }, word, MaxMessages),
	record.Value("budget_used", func(x *Exchange) *int64 { return &x.BudgetUsed }, record.Int()),
	record.Value("budget_total", func(x *Exchange) *int64 { return &x.BudgetTotal }, record.Int()),
	record.Few("candidates", func(x *Exchange) *[]memory.Candidate { return &x.Candidates }, candidateCodec, 10*memory.MaxCandidates),
	record.Inside("intentions", func(x *Exchange) *cortex.Changes { return &x.Intentions }, intentionsCodec),
	record.Inside("scratch", func(x *Exchange) *scratch.Changes { return &x.Scratch }, scratchCodec),
	record.Value("follow_up", func(x *Exchange) **dialogue.LightContext { return &x.FollowUp }, orNull(followUpCodec)),
}

var outputFields = record.Fields[DaemonOutput]{
	record.Value("daemon", func(o *DaemonOutput) *string { return &o.Daemon }, word),
	record.Value("output", func(o *DaemonOutput) *string { return &o.Output }, word),
}

// givenCodec is of an id that is left out or given. An empty one, as of a variable that was not set, would make another exchange of
// each try.
var givenCodec = record.Codec[string]{
	Append: word.Append,
	Decode: func(v strictjson.Raw) (string, error) {
		id, err := v.String()
		if err == nil && id == "" {
			err = invalid.New("", "is empty", "leave it out or give 26 characters as in 01ARZ3NDEKTSV4RRFFQ69G5FAV")
		}
		return id, err
	},
}

var draftCodec = record.Codec[turn.Draft]{
	Append: func(dst []byte, d turn.Draft) []byte { return d.AppendJSON(dst) },
	Decode: func(v strictjson.Raw) (turn.Draft, error) { return turn.DecodeDraft(string(v)) },
}

var candidateCodec = record.Codec[memory.Candidate]{
	Append: func(dst []byte, c memory.Candidate) []byte { return c.AppendJSON(dst) },
	Decode: func(v strictjson.Raw) (memory.Candidate, error) { return memory.DecodeCandidate(string(v)) },
}

var intentionsCodec = record.Codec[cortex.Changes]{
	Append: func(dst []byte, c cortex.Changes) []byte { return c.AppendJSON(dst) },
	Decode: func(v strictjson.Raw) (cortex.Changes, error) { return cortex.DecodeChanges(string(v)) },
}

var scratchCodec = record.Codec[scratch.Changes]{
	Append: func(dst []byte, c scratch.Changes) []byte { return c.AppendJSON(dst) },
	Decode: func(v strictjson.Raw) (scratch.Changes, error) { return scratch.DecodeChanges(string(v)) },
}

// followUpCodec takes what the follow-up context is shown as, where what is not known is null.
var followUpCodec = record.Of(record.Fields[dialogue.LightContext]{
	record.Value("last_intent", func(c *dialogue.LightContext) **string { return &c.LastIntent }, orNull(word)),
	record.Value("last_task_id", func(c *dialogue.LightContext) **string { return &c.LastTaskID }, orNull(word)),
	record.List("pending_fields", func(c *dialogue.LightContext) *[]string { return &c.PendingFields }, word),
	record.Value("last_user_message", func(c *dialogue.LightContext) **string { return &c.LastUserMessage }, orNull(word)),
})

// orNull is the codec of a value that may be null, which is read as nil.
func orNull[V any](c record.Codec[V]) record.Codec[*V] {
	return record.Codec[*V]{
		Append: func(dst []byte, v *V) []byte { return c.Append(dst, *v) },
		Decode: func(from strictjson.Raw) (*V, error) {
			if from.IsNull() {
				return nil, nil
			}
			v, err := c.Decode(from)
			return &v, err
		},
	}
}
