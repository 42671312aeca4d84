package commit

// State is how far an exchange has come.
type State string

// The states of an exchange. The last four are final.
const (
	Running            State = "running"
	Completing         State = "completing"
	ReadyForCommit     State = "ready_for_commit"
	Committing         State = "committing"
	Complete           State = "complete"
	CompleteWithErrors State = "complete_with_errors"
	Interrupted        State = "interrupted"
	Failed             State = "failed"
)

// Final reports whether the exchange has ended.
func (s State) Final() bool {
	switch s {
	case Complete, CompleteWithErrors, Interrupted, Failed:
		return true
	}
	return false
}

// Phase names a phase in traces.
type Phase string

// The six phases.
const (
	PhaseComplete Phase = "complete"
	PhaseReflect  Phase = "reflect"
	PhaseSelect   Phase = "select"
	PhasePersist  Phase = "persist"
	PhaseNotify   Phase = "notify"
	PhaseFinalize Phase = "finalize"
)
