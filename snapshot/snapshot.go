package snapshot

import (
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// FieldError is bad input: it names the field, the problem and what to do instead.
type FieldError = invalid.Field

// MaxName is how many bytes the name of a snapshot may have.
const MaxName = 200

// Snapshot is the recovery snapshot: a turn of a session and the epoch that was in force there, and what was
// known of both. It is never changed.
type Snapshot struct {
	ID      string // a ULID
	Session string // where it was taken
	Name    string // what the user calls it; may be empty, and several may have the same
	Auto    bool   // the engine took it by itself, and may sweep it
	Turn    int64  // the session's last turn then, 0 where there was none
	Epoch   int64  // the number of the epoch in force, 0 where there was none
	At      time.Time
	// TokenCount is what the last prompt took, 0 where there was none; MessageCount how many turns were on the
	// session's path, and CheckpointCount how many summaries stood in its prompt.
	TokenCount, MessageCount, CheckpointCount int64
	Model                                     string
	Tier                                      budget.Tier // 0 where there was no prompt
	Mode                                      string
}

var tier = record.Codec[budget.Tier]{
	Append: func(dst []byte, t budget.Tier) []byte { return record.Int().Append(dst, int64(t)) },
	Decode: func(v strictjson.Raw) (budget.Tier, error) {
		n, err := v.Int()
		return budget.Tier(n), err
	},
}

var fields = record.Fields[Snapshot]{
	record.Value("session", func(s *Snapshot) *string { return &s.Session }, record.Text[string]()),
	record.Value("name", func(s *Snapshot) *string { return &s.Name }, record.Text[string]()),
	record.Value("epoch", func(s *Snapshot) *int64 { return &s.Epoch }, record.Int()),
	record.Value("token_count", func(s *Snapshot) *int64 { return &s.TokenCount }, record.Int()),
	record.Value("message_count", func(s *Snapshot) *int64 { return &s.MessageCount }, record.Int()),
	record.Value("checkpoint_count", func(s *Snapshot) *int64 { return &s.CheckpointCount }, record.Int()),
	record.Value("model", func(s *Snapshot) *string { return &s.Model }, record.Text[string]()),
	record.Value("tier", func(s *Snapshot) *budget.Tier { return &s.Tier }, tier),
	record.Value("mode", func(s *Snapshot) *string { return &s.Mode }, record.Text[string]()),
}

// Row returns the snapshot as a store keeps it. It must be one that Check lets pass.
func (s *Snapshot) Row() Row {
	return Row{ID: s.ID, AfterSeq: s.Turn, Auto: s.Auto, Doc: string(fields.Append(nil, s)), At: s.At}
}

// Decode reads what [Snapshot.Row] wrote, now or in any earlier version. What is damaged or no snapshot is
// refused with an error that names it and holds a *[FieldError].
func Decode(r Row) (Snapshot, error) {
	s, err := fields.Decode(r.Doc)
	if err == nil {
		s.ID, s.Turn, s.Auto, s.At = r.ID, r.AfterSeq, r.Auto, r.At
		err = s.Check()
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot %s: %w", r.ID, err)
	}
	return s, nil
}

// Check refuses what no snapshot can be, with a *[FieldError]. [Decode] and [Take] do it too.
func (s *Snapshot) Check() error {
	if !ids.Valid(s.ID) {
		return invalid.New("id", fmt.Sprintf("%.40q is no ULID", s.ID), "give one of 26 characters")
	}
	if err := ids.CheckName("session", s.Session); err != nil {
		return err
	}
	if err := s.checkName(); err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"turn", s.Turn}, {"epoch", s.Epoch}, {"token_count", s.TokenCount},
		{"message_count", s.MessageCount}, {"checkpoint_count", s.CheckpointCount},
	} {
		if f.value < 0 {
			return invalid.New(f.name, fmt.Sprintf("%d is less than none", f.value), "give 0 or more")
		}
	}
	if s.MessageCount > s.Turn {
		return invalid.New("message_count", fmt.Sprintf("%d is more than the %d turns there were", s.MessageCount, s.Turn), "count the turns on the path")
	}
	if s.Tier != 0 && s.Tier.Name() == "" {
		return invalid.New("tier", fmt.Sprintf("%d is no tier", int(s.Tier)), "use 1 to 5, or 0 where there was no prompt")
	}
	if s.At.IsZero() {
		return invalid.New("at", "is missing", "give the time it was taken")
	}
	return nil
}

func (s *Snapshot) checkName() error {
	if s.Name == "" {
		return nil
	}
	if s.Auto {
		return invalid.New("name", fmt.Sprintf("an automatic snapshot is called %.40q", s.Name), "leave it out")
	}
	// It would be taken for the id of another one.
	if ids.Valid(s.Name) {
		return invalid.New("name", s.Name+" looks like the id of a snapshot", "give another name")
	}
	return record.CheckLine("name", s.Name, MaxName)
}
