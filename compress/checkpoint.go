package compress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/turn"
)

// Bounds of what a checkpoint may hold.
const (
	// MaxSummary is how many bytes a summary may have.
	MaxSummary = 1 << 20
	// MaxFacts is how many decisions, files and next steps each a checkpoint lists.
	MaxFacts = 256
	// MaxFact is how many bytes one of them may have.
	MaxFact = 4 << 10
)

// FieldError says which field of a record is refused, why, and what to do.
type FieldError = invalid.Field

// Checkpoint is the compression checkpoint: a summary that the model sees instead of the turns of its
// range. It is never changed; when it ages, a next version of it is written.
type Checkpoint struct {
	ID string
	// Number is the compression that made it, from 1 on; of merged ones the newest.
	Number int64
	// Version is 1, then one more with every aging.
	Version int64
	Level   Level
	Range   turn.Range
	Summary string
	// CreatedAt is when the range was first compressed, CompressedAt when this version was made.
	CreatedAt, CompressedAt time.Time
	// OriginalTokens is what the turns took that the summary stands for, CurrentTokens what it takes
	// itself.
	OriginalTokens, CurrentTokens int64
	// CompressionCount is how many summaries were made of the range one after the other.
	CompressionCount int64
	// KeyDecisions, FilesModified and NextSteps are what was found in the range, in order.
	KeyDecisions, FilesModified, NextSteps []string
	// Worth are the turns of the range that it is made of again when it ages, as [Source.Worth] chose
	// them; none means all.
	Worth []turn.Range
	// SourceHash is [Source.Hash] of the turns that it was made of.
	SourceHash string
	Receipt    Receipt
}

// Gone reports whether the checkpoint was emptied, since something that it told was forgotten. One that is gone has
// its Number and Version and nothing else.
func (c *Checkpoint) Gone() bool { return c.ID == "" }

// Age is how many compressions there were since, at the compression of that number.
func (c *Checkpoint) Age(number int64) int64 { return max(number-c.Number, 0) }

// Texts are all that it says of its turns, in their words or others.
func (c *Checkpoint) Texts() []string {
	r := &c.Receipt
	return slices.Concat([]string{c.Summary}, c.KeyDecisions, c.FilesModified, c.NextSteps, r.Patched, r.Missing, r.Omitted, r.Refused)
}

// Check refuses what no checkpoint can be, with a *[FieldError]. [DecodeCheckpoint] does it too.
func (c *Checkpoint) Check() error {
	if err := ids.CheckName("id", c.ID); err != nil {
		return err
	}
	if !c.Level.valid() {
		return invalid.New("level", fmt.Sprintf("%d is no level", c.Level), "use 0 to 3")
	}
	if c.Range.From < 1 || c.Range.To < c.Range.From {
		return invalid.New("range", fmt.Sprintf("%d to %d is no range of turns", c.Range.From, c.Range.To), "give its first and last turn")
	}
	for _, f := range []struct {
		name  string
		value int64
		least int64
	}{
		{"compression_number", c.Number, 1}, {"version", c.Version, 1}, {"compression_count", c.CompressionCount, 1},
		{"original_tokens", c.OriginalTokens, 1}, {"current_tokens", c.CurrentTokens, 0},
	} {
		if f.value < f.least {
			return invalid.New(f.name, fmt.Sprintf("%d is too little", f.value), fmt.Sprintf("give %d or more", f.least))
		}
	}
	if c.CurrentTokens >= c.OriginalTokens {
		return invalid.New("current_tokens", fmt.Sprintf("%d is not less than the %d of the turns", c.CurrentTokens, c.OriginalTokens), "a checkpoint must be smaller than what it stands for")
	}
	if strings.TrimSpace(c.Summary) == "" {
		return invalid.New("summary", "is empty", "leave the turns as they are instead")
	}
	if err := record.CheckText("summary", c.Summary, MaxSummary); err != nil {
		return err
	}
	if c.CreatedAt.IsZero() || c.CompressedAt.IsZero() {
		return invalid.New("compressed_at", "is missing", "give the times of the first and the last compression")
	}
	if err := checkHash("source_hash", c.SourceHash); err != nil {
		return err
	}
	if err := c.checkFacts(); err != nil {
		return err
	}
	if err := c.checkWorth(); err != nil {
		return err
	}
	return record.Within("receipt", c.Receipt.check())
}

func (c *Checkpoint) checkFacts() error {
	for _, f := range []struct {
		name string
		list []string
	}{{"key_decisions", c.KeyDecisions}, {"files_modified", c.FilesModified}, {"next_steps", c.NextSteps}} {
		if err := checkTexts(f.name, f.list, MaxFacts, MaxFact); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checkpoint) checkWorth() error {
	// A unit that began before the range and ended in it is the range's.
	next := int64(1)
	for i, r := range c.Worth {
		if r.From < next || r.To < r.From || r.To > c.Range.To {
			return invalid.New(record.Indexed("worth", i), fmt.Sprintf("%d to %d is out of order or out of range", r.From, r.To), "give ranges of turns, ascending and apart")
		}
		next = r.To + 1
	}
	return nil
}

func checkTexts(field string, list []string, most, size int) error {
	if len(list) > most {
		return invalid.New(field, fmt.Sprintf("has %d entries, at most %d", len(list), most), "leave out what matters least")
	}
	for i, s := range list {
		if err := record.CheckText(record.Indexed(field, i), s, size); err != nil {
			return err
		}
	}
	return nil
}

func checkHash(field, hash string) error {
	bad := func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }
	if len(hash) != 64 || strings.ContainsFunc(hash, bad) {
		return invalid.New(field, fmt.Sprintf("%.80q is no SHA-256", hash), "give 64 hexadecimal digits in lower case")
	}
	return nil
}

// Describe fills KeyDecisions, FilesModified and NextSteps with what was found in the turns, as much of
// it as a checkpoint may hold. Of the next steps those of the last turn that names any count.
func (c *Checkpoint) Describe(facts []Fact) {
	c.KeyDecisions, c.FilesModified, c.NextSteps = nil, nil, nil
	var planned int64
	for _, f := range facts {
		switch f.Kind {
		case FactDecision:
			c.KeyDecisions = appendFact(c.KeyDecisions, f.Text)
		case FactFile:
			c.FilesModified = appendFact(c.FilesModified, f.Text)
		case FactNext:
			if f.Seq != planned {
				planned, c.NextSteps = f.Seq, nil
			}
			c.NextSteps = appendFact(c.NextSteps, f.Text)
		}
	}
}

// appendFact adds a text once; where the list is full the oldest goes.
func appendFact(list []string, text string) []string {
	if len(text) > MaxFact || slices.Contains(list, text) {
		return list
	}
	if len(list) == MaxFacts {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, text)
}
