package server

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/diff"
)

// rangeDoc are turns from one to another.
type rangeDoc struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// checkpointDoc is a checkpoint: what [compress.Checkpoint.AppendShown] writes.
type checkpointDoc struct {
	ID               string     `json:"id"`
	Session          string     `json:"session_id"`
	Number           int64      `json:"compression_number,omitempty" doc:"the pass that made it"`
	Version          int64      `json:"version,omitempty"`
	Level            string     `json:"level" enum:"detailed,moderate,compact,ultra"`
	Range            rangeDoc   `json:"range,omitempty" doc:"the turns that it stands for"`
	Summary          string     `json:"summary,omitempty"`
	CreatedAt        string     `json:"created_at,omitempty" format:"date-time"`
	CompressedAt     string     `json:"compressed_at,omitempty" format:"date-time"`
	OriginalTokens   int64      `json:"original_tokens,omitempty"`
	CurrentTokens    int64      `json:"current_tokens,omitempty"`
	CompressionCount int64      `json:"compression_count,omitempty"`
	KeyDecisions     []string   `json:"key_decisions,omitempty"`
	FilesModified    []string   `json:"files_modified,omitempty"`
	NextSteps        []string   `json:"next_steps,omitempty"`
	Worth            []rangeDoc `json:"worth,omitempty"`
	SourceHash       string     `json:"source_hash,omitempty"`
	Receipt          object     `json:"receipt,omitempty" doc:"what was checked in the summary"`
}

// checkpointRow is a checkpoint in a list. What a single one says too has the same name and form there.
type checkpointRow struct {
	Session        string   `json:"session_id"`
	ID             string   `json:"id"`
	Number         int64    `json:"compression_number" doc:"the pass that made it"`
	Version        int64    `json:"version"`
	Versions       int      `json:"versions" doc:"how many there are"`
	Level          string   `json:"level" enum:"detailed,moderate,compact,ultra"`
	Range          rangeDoc `json:"range" doc:"the turns that it stands for"`
	From           int64    `json:"from" doc:"as in range"`
	To             int64    `json:"to" doc:"as in range"`
	OriginalTokens int64    `json:"original_tokens"`
	CurrentTokens  int64    `json:"current_tokens"`
	By             string   `json:"by" doc:"who made it"`
	Age            int64    `json:"age" doc:"in passes"`
	CreatedAt      string   `json:"created_at" format:"date-time"`
	CompressedAt   string   `json:"compressed_at" format:"date-time"`
}

func listCheckpoints(ctx context.Context, s *turnstone.Session, _ *struct{ InSession }) (*answer[page[checkpointRow]], error) {
	list, err := s.Checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return nil, err
	}
	shown := page[checkpointRow]{Items: []checkpointRow{}}
	for i := range list {
		c := &list[i]
		versions, err := s.CheckpointVersions(ctx, c.Number)
		if err != nil {
			return nil, err
		}
		shown.Items = append(shown.Items, checkpointRow{
			s.ID(), c.ID, c.Number, c.Version, len(versions), c.Level.String(), rangeDoc{c.Range.From, c.Range.To},
			c.Range.From, c.Range.To, c.OriginalTokens, c.CurrentTokens,
			c.Receipt.By, c.Age(epoch.Passes), timeText(c.CreatedAt), timeText(c.CompressedAt),
		})
	}
	return answered(shown), nil
}

// InCheckpoint is the part of a request that names a checkpoint. It is exported for huma, which reads it.
type InCheckpoint struct {
	InSession
	Number int64 `path:"number" minimum:"1" doc:"the number of the pass that made it"`
}

// version finds a version of a checkpoint: for 0 the one in the prompt, or the last where none is.
func (in *InCheckpoint) version(ctx context.Context, s *turnstone.Session, n int64) (*compress.Checkpoint, error) {
	versions, err := s.CheckpointVersions(ctx, in.Number)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		epoch, err := s.Epoch(ctx, turnstone.Head)
		if err != nil {
			return nil, err
		}
		for _, ref := range epoch.Checkpoints {
			if ref.Number == in.Number {
				n = ref.Version
			}
		}
	}
	if n == 0 {
		n = versions[len(versions)-1].Version
	}
	i := slices.IndexFunc(versions, func(v compress.Checkpoint) bool { return v.Version == n })
	if i < 0 {
		return nil, fmt.Errorf("checkpoint %d, version %d: %w; it has %d", in.Number, n, compress.ErrNotFound, len(versions))
	}
	if versions[i].Gone() {
		return nil, fmt.Errorf("checkpoint %d, version %d: %w; it cannot be brought back", in.Number, n, compress.ErrEmptied)
	}
	return &versions[i], nil
}

type versionInput struct {
	InCheckpoint
	Version int64 `query:"version" minimum:"1" doc:"which version"`
}

func showCheckpoint(ctx context.Context, s *turnstone.Session, in *versionInput) (*answer[exact[checkpointDoc]], error) {
	c, err := in.version(ctx, s, in.Version)
	if err != nil {
		return nil, err
	}
	return exactly[checkpointDoc](c.AppendShown(nil, s.ID())), nil
}

// summaryReceipt is what was checked in a summary.
type summaryReceipt struct {
	Session    string   `json:"session_id"`
	Number     int64    `json:"compression_number"`
	Version    int64    `json:"version"`
	By         string   `json:"by" doc:"who made it"`
	Tries      int64    `json:"tries" doc:"how often a model was asked"`
	Repaired   bool     `json:"repaired"`
	Before     int64    `json:"before"`
	After      int64    `json:"after"`
	Facts      int64    `json:"facts" doc:"how many had to be in the summary, and are"`
	Literals   int64    `json:"literals" doc:"how many had to be in the summary"`
	Held       int64    `json:"held" doc:"how many of the literals are there"`
	Patched    []string `json:"patched" doc:"what was added word for word"`
	Missing    []string `json:"missing"`
	Omitted    []string `json:"omitted" doc:"what was left out for want of room"`
	Refused    []string `json:"refused" doc:"why answers of a model were not taken"`
	More       int64    `json:"more" doc:"how many stand in no list"`
	SourceHash string   `json:"source_hash"`
}

func showReceipt(ctx context.Context, s *turnstone.Session, in *versionInput) (*answer[summaryReceipt], error) {
	c, err := in.version(ctx, s, in.Version)
	if err != nil {
		return nil, err
	}
	r := c.Receipt
	return answered(summaryReceipt{
		Session: s.ID(), Number: c.Number, Version: c.Version, By: r.By, Tries: r.Tries, Repaired: r.Repaired, Before: r.Before, After: r.After,
		Facts: r.Facts, Literals: r.Literals, Held: r.Held, Patched: listOf(r.Patched), Missing: listOf(r.Missing), Omitted: listOf(r.Omitted),
		Refused: listOf(r.Refused), More: r.More, SourceHash: r.SourceHash,
	}), nil
}

type compared struct {
	Session string         `json:"session_id"`
	Number  int64          `json:"compression_number"`
	From    comparedOne    `json:"from"`
	To      comparedOne    `json:"to"`
	Lines   []comparedLine `json:"lines"`
}

type comparedOne struct {
	Version int64  `json:"version"`
	Level   string `json:"level"`
	Tokens  int64  `json:"tokens"`
}

type comparedLine struct {
	Op   string `json:"op" enum:" ,-,+"`
	Text string `json:"text"`
}

type diffInput struct {
	InCheckpoint
	From int64 `query:"from" minimum:"1" doc:"a version; the one before the last if it is left out"`
	To   int64 `query:"to" minimum:"1" doc:"a version; the last if it is left out"`
}

func diffCheckpoint(ctx context.Context, s *turnstone.Session, in *diffInput) (*answer[compared], error) {
	versions, err := s.CheckpointVersions(ctx, in.Number)
	if err != nil {
		return nil, err
	}
	if in.To == 0 {
		in.To = versions[len(versions)-1].Version
	}
	if in.From == 0 {
		in.From = versions[max(len(versions)-2, 0)].Version
	}
	from, err := in.version(ctx, s, in.From)
	if err != nil {
		return nil, err
	}
	to, err := in.version(ctx, s, in.To)
	if err != nil {
		return nil, err
	}
	of := func(c *compress.Checkpoint) comparedOne {
		return comparedOne{c.Version, c.Level.String(), c.CurrentTokens}
	}
	lines := pageOf(diff.Lines(from.Summary, to.Summary), func(l diff.Line) comparedLine { return comparedLine{string(l.Op), l.Text} })
	return answered(compared{s.ID(), in.Number, of(from), of(to), lines.Items}), nil
}
