package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxCheckpoint is how many bytes the document of a checkpoint may have: what fits a line however it is escaped.
const maxCheckpoint = 8 << 20

// version names a version of a checkpoint.
type version struct{ number, version int64 }

func (v version) String() string {
	return fmt.Sprintf("version %d of checkpoint %d", v.version, v.number)
}

// madeCheckpoint is what a reader remembers of one.
type madeCheckpoint struct {
	turn.Range
	afterSeq int64
	sum      [sha256.Size]byte
	lost     bool
}

func appendCheckpoint(dst []byte, r *compress.Row) []byte {
	dst = appendNumber(append(dst, `{"checkpoint":{"number":`...), r.Number)
	dst = appendNumber(append(dst, `,"version":`...), r.Version)
	dst = appendNumber(append(dst, `,"after_seq":`...), r.AfterSeq)
	dst = strictjson.AppendTime(append(dst, `,"at":`...), r.At)
	if r.Doc == "" {
		return append(dst, `,"lost":true}`...)
	}
	return append(appendRaw(dst, "doc", r.Doc), '}')
}

func decodeCheckpoint(value string) (*compress.Row, error) {
	r := compress.Row{AfterSeq: -1}
	var lost bool
	err := decodeMembers(value, intMember("number", &r.Number), intMember("version", &r.Version), intMember("after_seq", &r.AfterSeq),
		timeMember("at", &r.At), rawMember("doc", &r.Doc), boolMember("lost", &lost))
	switch {
	case err != nil:
		return nil, err
	case lost && r.Doc != "":
		return nil, errors.New("lost: and yet there is a doc")
	case !lost && r.Doc == "":
		return nil, missing("doc")
	}
	return &r, nil
}

// nextCheckpoint checks the next version of a checkpoint: without a gap, never at an earlier turn than the one
// before, and that its document is what its row says.
func (c *checker) nextCheckpoint(r *compress.Row) error {
	v, last := version{r.Number, r.Version}, c.checkpoint
	wrong := func(format string, args ...any) error { return fmt.Errorf("%v: %w", v, fmt.Errorf(format, args...)) }
	earliest := int64(0)
	switch {
	case r.Number < 1 || r.Number < last.Number:
		return wrong("number: stands after checkpoint %d", last.Number)
	case r.Number > last.Number && r.Version != 1:
		return wrong("version: it is the first that stands here, and the first is 1")
	case r.Number == last.Number && r.Version != last.Version+1:
		return wrong("version: stands where version %d must", last.Version+1)
	case r.Number == last.Number:
		earliest = last.AfterSeq
	}
	switch {
	case r.AfterSeq < earliest || r.AfterSeq > c.head:
		return wrong("after_seq: %d is not from %d to %d", r.AfterSeq, earliest, c.head)
	case r.At.IsZero():
		return wrong("%w", missing("at"))
	}
	c.checkpoint = compress.Row{Number: r.Number, Version: r.Version, AfterSeq: r.AfterSeq}
	if c.trusted {
		return nil
	}
	if len(c.checkpoints) == c.bounds.checkpoints {
		return wrong("more than %d versions of checkpoints", c.bounds.checkpoints)
	}
	made := madeCheckpoint{afterSeq: r.AfterSeq, sum: sha256.Sum256([]byte(r.Doc)), lost: r.Doc == ""}
	if !made.lost {
		var err error
		if made.Range, err = soundCheckpoint(r); err != nil {
			return wrong("doc: %w", err)
		}
	}
	c.checkpoints[v] = made
	return nil
}

// soundCheckpoint holds a row against its document, and returns what it covers.
func soundCheckpoint(r *compress.Row) (turn.Range, error) {
	if err := record.CheckText("doc", r.Doc, maxCheckpoint); err != nil {
		return turn.Range{}, err
	}
	made, err := compress.DecodeCheckpoint(r.Doc)
	switch {
	case err != nil:
		return turn.Range{}, err
	case made.Number != r.Number || made.Version != r.Version:
		return turn.Range{}, fmt.Errorf("is %v", version{made.Number, made.Version})
	case made.Range.To > r.AfterSeq:
		return turn.Range{}, fmt.Errorf("range: %d–%d goes past turn %d", made.Range.From, made.Range.To, r.AfterSeq)
	}
	return made.Range, nil
}

// refs checks what an epoch refers to: each checkpoint stands before it, is the very same, and covers turns before
// the recent ones, oldest first.
func (c *checker) refs(e *prompt.Epoch) error {
	next := int64(1)
	for _, ref := range e.Checkpoints {
		v := version{ref.Number, ref.Version}
		made, there := c.checkpoints[v]
		switch {
		case !there:
			return fmt.Errorf("no %v stands before it", v)
		case made.lost:
			made.Range = ref.Range
		case hex.EncodeToString(made.sum[:]) != ref.SHA256:
			return fmt.Errorf("%v is not the one it refers to: its sum is %x, not %.64s", v, made.sum, ref.SHA256)
		}
		switch {
		case made.Range != ref.Range:
			return fmt.Errorf("%v covers turns %d–%d, not %d–%d", v, made.From, made.To, ref.From, ref.To)
		case made.afterSeq > e.AfterSeq:
			return fmt.Errorf("%v was made after turn %d, later than the epoch", v, made.afterSeq)
		case ref.From < next || ref.To < ref.From || ref.To >= e.From:
			return fmt.Errorf("turns %d–%d of %v are not from %d to %d", ref.From, ref.To, v, next, e.From-1)
		}
		next = ref.To + 1
	}
	return nil
}

// checkpointRows yields the versions along the session's path. Of those that stand twice the last one counts, which
// is the session's own.
func (e *export) checkpointRows(ctx context.Context) iter.Seq2[compress.Row, error] {
	return func(yield func(compress.Row, error) bool) {
		for after := int64(0); ; {
			rows, err := e.tx.Compress().Checkpoints(ctx, e.info.Tenant, e.info.Lineage(e.info.Head), after, pageRows)
			if err != nil {
				yield(compress.Row{}, fmt.Errorf("checkpoints: %w", err))
				return
			}
			for i, row := range rows {
				after = row.Number
				if i+1 < len(rows) && rows[i+1].Number == row.Number && rows[i+1].Version == row.Version {
					continue
				}
				if !yield(row, nil) {
					return
				}
			}
			if len(rows) == 0 {
				return
			}
		}
	}
}

// checkpoints writes all versions. One that is damaged is written as lost: the session went on without it, and so
// does its copy.
func (e *export) checkpoints(ctx context.Context) error {
	for row, err := range e.checkpointRows(ctx) {
		if err != nil {
			return err
		}
		sum := sha256.Sum256([]byte(row.Doc))
		wanted, referred := e.refs[version{row.Number, row.Version}]
		if _, err := soundCheckpoint(&row); err != nil || referred && wanted != hex.EncodeToString(sum[:]) {
			row.Doc = ""
		}
		if err := e.enc.Encode(Record{Checkpoint: &row}); err != nil {
			return err
		}
	}
	return nil
}

func (i *imported) checkpoint(ctx context.Context, r *compress.Row) error {
	if err := i.tx.Compress().InsertCheckpoint(ctx, i.session.Tenant, i.session.Segment, *r); err != nil {
		return fmt.Errorf("%v: %w", version{r.Number, r.Version}, err)
	}
	return nil
}
