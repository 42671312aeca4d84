package compress

import (
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// Pass is a compression: its number, and the checkpoint that it adds.
type Pass struct {
	// Number counts the session's compressions from 1 on.
	Number int64
	// Range is what the new checkpoint covers, Tokens the most that it takes. A pass that adds none, and
	// only lets the others age, has neither.
	Range  turn.Range
	Tokens int
	// Quoted is how many tokens what is quoted beside the checkpoints takes of their share.
	Quoted int
	// Missing is how many tokens the checkpoints must give back for the prompt to fit, whatever they have left then: one
	// that can be no smaller goes, and its turns are only named. Such a pass adds none.
	Missing int
}

// Step is what happens to one checkpoint, or to several that become one.
type Step struct {
	// Of are the checkpoints that it replaces, oldest first. Several are merged.
	Of []Checkpoint
	// New says that the checkpoint of the pass is merged with them, so that none is added.
	New bool
	// Level and Budget are what the new version must keep to. Budget is always less than what Of take,
	// together with the new one where that is part of it.
	Level  Level
	Budget int
	// Range is what the new version covers.
	Range turn.Range
}

// Guide is what the checkpoints said, to be the guide of what is made of their turns.
func (s *Step) Guide() string {
	var all []string
	for i := range s.Of {
		all = append(all, s.Of[i].Summary)
	}
	return strings.Join(all, "\n")
}

// Sources are the turns that the step reads: of the checkpoints those that are worth it, and all of the new
// range where that is part of it. They are ascending.
func (s *Step) Sources() []turn.Range {
	var all []turn.Range
	end := s.Range.From - 1
	for i := range s.Of {
		c := &s.Of[i]
		if len(c.Worth) > 0 {
			all = append(all, c.Worth...)
		} else {
			all = append(all, c.Range)
		}
		end = c.Range.To
	}
	if s.New {
		all = append(all, turn.Range{From: end + 1, To: s.Range.To})
	}
	return joined(all)
}

// Next is the checkpoint that a step makes of what [Run] returned for the request: the next version of the
// newest that it replaces or, where the new one is merged with them, the first of the pass's number. The
// id is for that one; a next version keeps its own.
func (s *Step) Next(id string, p Pass, r *Request, summary string, receipt Receipt, at time.Time) Checkpoint {
	c := First(id, p, r, summary, receipt, at)
	c.Level, c.Range = s.Level, s.Range
	c.CreatedAt, c.OriginalTokens = s.Of[0].CreatedAt, 0
	for i := range s.Of {
		c.OriginalTokens += s.Of[i].OriginalTokens
		c.CompressionCount = max(c.CompressionCount, s.Of[i].CompressionCount+1)
	}
	if s.New {
		fresh := r.Source
		fresh.Turns = slices.DeleteFunc(slices.Clone(fresh.Turns), func(t turn.Turn) bool { return t.Seq < p.Range.From })
		c.OriginalTokens += int64(fresh.Tokens(r.Count))
	}
	// What was pinned or still waited for a result when they were made was not counted then.
	c.OriginalTokens = max(c.OriginalTokens, receipt.Before)
	c.Receipt.Before = c.OriginalTokens
	s.remember(&c, r.Quoted)
	if newest := &s.Of[len(s.Of)-1]; !s.New {
		c.ID, c.Number, c.Version = newest.ID, newest.Number, newest.Version+1
	}
	return c
}

// remember lists what the checkpoints before knew of, too: not all of their turns were read again. Decisions
// that are neither in the summary any more nor quoted beside it are told by the receipt.
func (s *Step) remember(c *Checkpoint, quoted []string) {
	var decisions, files []string
	for i := range s.Of {
		for _, text := range s.Of[i].KeyDecisions {
			decisions = appendFact(decisions, text)
		}
		for _, text := range s.Of[i].FilesModified {
			files = appendFact(files, text)
		}
	}
	told, omitted := plain(c.Summary+"\n"+strings.Join(quoted, "\n")), c.Receipt.Omitted
	for _, text := range decisions {
		if !strings.Contains(told, plain(text)) && !slices.Contains(omitted, text) {
			omitted = append(omitted, text)
		}
	}
	c.Receipt.Omitted = c.Receipt.list(omitted)
	for _, text := range c.KeyDecisions {
		decisions = appendFact(decisions, text)
	}
	for _, text := range c.FilesModified {
		files = appendFact(files, text)
	}
	c.KeyDecisions, c.FilesModified = decisions, files
}

// rereadFactor is how many tokens are worth reading again for each that a checkpoint takes at most.
const rereadFactor = 16

// First is the checkpoint that a pass makes of what [Run] returned for the request.
func First(id string, p Pass, r *Request, summary string, receipt Receipt, at time.Time) Checkpoint {
	c := Checkpoint{
		ID: id, Number: p.Number, Version: 1, Level: Detailed, Range: p.Range, Summary: summary, CreatedAt: at, CompressedAt: at,
		OriginalTokens: receipt.Before, CurrentTokens: receipt.After, CompressionCount: 1, SourceHash: receipt.SourceHash, Receipt: receipt,
	}
	c.Describe(r.Source.Facts())
	c.Worth = r.Source.Worth(r.Mode, rereadFactor*r.Budget, r.Count)
	return c
}
