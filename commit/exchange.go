package commit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Exchange is one input, any number of actions and one reply, at its end. The zero value of every field
// but Opened and Turns, of which one is needed, is fine.
type Exchange struct {
	// ExportID, a ULID, makes it harmless to commit the exchange again. Defaults to that of the Key, or to a new one.
	ExportID string
	// Key is the idempotency key of the request, in the place of an ExportID: it names one request of the session, and was not used to
	// append turns.
	Key string
	// Opened is the id of the turn that opened the exchange, where it is in the log already: every
	// turn from it to the end of the session is part of the exchange, but not those of exchanges that were committed since.
	Opened string
	// Again says that the exchange was committed before, without a reply, and was tried once more. Who does not hold the lease may say so
	// of one that failed, while nothing was committed since.
	Again bool
	// Log are the turns from Opened on, where the caller knows them and that the exchange is not committed under
	// another id: they need not be read then, unless something else has to be looked up.
	Log []turn.Turn
	// Turns are those that are not in the log yet. Ids may be left out.
	Turns []turn.Draft

	AgentID     string    // Defaults to "agent".
	Started     time.Time // Defaults to when the commit began.
	Urgency     Urgency   // Defaults to MEDIUM.
	Interrupted bool      // the reply was cut short
	Failure     string    // why the exchange could not be answered; empty where it was

	DaemonOutputs []DaemonOutput
	Errors        []string
	Warnings      []string
	BudgetUsed    int64
	BudgetTotal   int64

	// Candidates are what may be worth remembering, besides what the exchange itself shows.
	Candidates []memory.Candidate
	Intentions cortex.Changes
	Scratch    scratch.Changes
	// FollowUp replaces the follow-up context. Without it only its last message is refreshed.
	FollowUp *dialogue.LightContext
	// Believe changes the dialogue state in the same update. It may run more than once. Turns that cannot be written are
	// not put off then: that is the commit's error.
	Believe func(*dialogue.State) error
	// Within writes something else in the same update, before the exchange. It may run more than once; its error
	// is the commit's, and so is that of turns that cannot be written: they are not put off then. It is not run for an
	// exchange that was committed before.
	Within func(ctx context.Context, tx store.Tx) error
	// Lease is the token of the session's lease, where the writer holds one.
	Lease string
	// Replied is called with the final reply as soon as there is one: nothing after it delays the reply.
	Replied func(reply string)
}

// DaemonOutput is what a daemon contributed to the exchange.
type DaemonOutput struct{ Daemon, Output string }

// Bounds of an exchange; what is past them is refused with an error that names the field.
const (
	MaxTurns    = 1024
	MaxMessages = 256  // of each of Errors, Warnings and DaemonOutputs
	MaxChanges  = 4096 // of goals, of actions, and of notes that are put, archived or cleared
	maxShort    = 256
	maxMessage  = 64 << 10
)

func (ex *Exchange) check() error {
	if ex.Opened == "" && len(ex.Turns) == 0 {
		return invalid.New("turns", "the exchange has none", "give its turns, or the turn_id of the turn that opened it")
	}
	if ex.Key != "" && ex.ExportID != "" {
		return invalid.New("export_id", "is given beside an idempotency key", "give one of them")
	}
	if ex.Again && ex.Opened == "" {
		return invalid.New("again", "is given without turn_id", "name the turn that opened the exchange which failed")
	}
	for _, id := range []struct{ field, value string }{{"export_id", ex.ExportID}, {"turn_id", ex.Opened}} {
		if id.value != "" && !ids.Valid(id.value) {
			return invalid.New(id.field, fmt.Sprintf("%q is not a ULID", id.value), "leave it out or give 26 characters as in 01ARZ3NDEKTSV4RRFFQ69G5FAV")
		}
	}
	switch ex.Urgency {
	case High, Medium, Low, "":
	default:
		return invalid.New("urgency", fmt.Sprintf("%q is not an urgency", ex.Urgency), "use HIGH, MEDIUM or LOW")
	}
	if ex.AgentID != "" && strings.TrimSpace(ex.AgentID) == "" {
		return invalid.New("agent_id", "is blank", "name who answered, or leave it out")
	}
	if err := record.CheckText("agent_id", ex.AgentID, maxShort); err != nil {
		return err
	}
	if ex.BudgetUsed < 0 || ex.BudgetTotal < 0 {
		return invalid.New("budget_used", "is negative", "give budget_used and budget_total as 0 or more")
	}
	if len(ex.Turns) > MaxTurns {
		return invalid.New("turns", fmt.Sprintf("there are %d", len(ex.Turns)), fmt.Sprintf("append some before; a commit takes %d", MaxTurns))
	}
	for _, own := range []struct {
		field string
		of    func(*turn.Draft) string
	}{{"turn_id", func(d *turn.Draft) string { return d.ID }}, {"idempotency_key", func(d *turn.Draft) string { return d.IdempotencyKey }}} {
		if err := ex.checkOwn(own.field, own.of); err != nil {
			return err
		}
	}
	if err := ex.checkKeys(); err != nil {
		return err
	}
	if err := ex.checkChanges(); err != nil {
		return err
	}
	return ex.checkMessages()
}

func (ex *Exchange) checkKeys() error {
	if err := turn.CheckKey(ex.Key); err != nil {
		return err
	}
	for i := range ex.Turns {
		key := ex.Turns[i].IdempotencyKey
		if err := turn.CheckKey(key); err != nil {
			return record.Within(record.Indexed("turns", i), err)
		}
		if key != "" && key == ex.Key {
			return invalid.New(record.Indexed("turns", i)+".idempotency_key", fmt.Sprintf("%q is that of the exchange", key), "give another, or none")
		}
	}
	return nil
}

func (ex *Exchange) checkChanges() error {
	for _, list := range [...]struct {
		field string
		n     int
	}{
		{"intentions.goals", len(ex.Intentions.Goals)}, {"intentions.actions", len(ex.Intentions.Actions)},
		{"scratch.put", len(ex.Scratch.Put)}, {"scratch.archive", len(ex.Scratch.Archive)}, {"scratch.clear", len(ex.Scratch.Clear)},
	} {
		if list.n > MaxChanges {
			return invalid.New(list.field, fmt.Sprintf("there are %d", list.n), fmt.Sprintf("hand over at most %d an exchange", MaxChanges))
		}
	}
	return nil
}

// checkOwn refuses what two turns have both, and each must have for itself.
func (ex *Exchange) checkOwn(field string, of func(*turn.Draft) string) error {
	var given map[string]int // most turns have none
	for i := range ex.Turns {
		own := of(&ex.Turns[i])
		if own == "" {
			continue
		}
		if first, twice := given[own]; twice {
			return invalid.New(record.Indexed("turns", i)+"."+field, fmt.Sprintf("%q is that of turns[%d]", own, first), "give each turn one of its own, or none")
		}
		if given == nil {
			given = make(map[string]int)
		}
		given[own] = i
	}
	return nil
}

// checkCandidates looks at them before anybody is asked for a reply: it would be told to the user, and then not be committed.
func (ex *Exchange) checkCandidates() error {
	if n := len(ex.Candidates); n > memory.MaxCandidates {
		return invalid.New("candidates", fmt.Sprintf("there are %d", n), fmt.Sprintf("hand over at most %d an exchange", memory.MaxCandidates))
	}
	for i := range ex.Candidates {
		if err := ex.Candidates[i].CheckNew(); err != nil {
			return record.Within(record.Indexed("candidates", i), err)
		}
	}
	return nil
}

func (ex *Exchange) checkMessages() error {
	outputs := make([]string, len(ex.DaemonOutputs))
	for i, o := range ex.DaemonOutputs {
		if strings.TrimSpace(o.Daemon) == "" || len(o.Daemon) > maxShort {
			return invalid.New(fmt.Sprintf("daemon_outputs[%d].daemon", i), fmt.Sprintf("%q is not a name", o.Daemon), fmt.Sprintf("use 1 to %d bytes", maxShort))
		}
		if err := record.CheckText(fmt.Sprintf("daemon_outputs[%d].daemon", i), o.Daemon, maxShort); err != nil {
			return err
		}
		outputs[i] = o.Output
	}
	for _, list := range []struct {
		field  string
		values []string
	}{{"errors", ex.Errors}, {"warnings", ex.Warnings}, {"daemon_outputs", outputs}} {
		if len(list.values) > MaxMessages {
			return invalid.New(list.field, fmt.Sprintf("there are %d", len(list.values)), fmt.Sprintf("give at most %d", MaxMessages))
		}
		for i, m := range list.values {
			if err := record.CheckText(record.Indexed(list.field, i), m, maxMessage); err != nil {
				return err
			}
		}
	}
	if ex.Failure != "" && strings.TrimSpace(ex.Failure) == "" {
		return invalid.New("failure", "is blank", "say why it could not be answered, or leave it out")
	}
	return record.CheckText("failure", ex.Failure, maxMessage)
}
