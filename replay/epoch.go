package replay

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/prompt"
)

func appendEpoch(dst []byte, r *prompt.EpochRow) []byte {
	dst = appendNumber(append(dst, `{"epoch":{"number":`...), r.Number)
	dst = appendNumber(append(dst, `,"after_seq":`...), r.AfterSeq)
	dst = strictjson.AppendTime(append(dst, `,"at":`...), r.At)
	return append(appendRaw(dst, "doc", r.Doc), '}')
}

func decodeEpoch(value string) (*prompt.EpochRow, error) {
	r := prompt.EpochRow{AfterSeq: -1}
	err := decodeMembers(value, intMember("number", &r.Number), intMember("after_seq", &r.AfterSeq), timeMember("at", &r.At), rawMember("doc", &r.Doc))
	return &r, err
}

// epoch checks the next epoch: its number, that it was not opened before the last one, and that what it
// shows and begins with is there.
func (c *checker) epoch(r *prompt.EpochRow) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("epoch %d: %w", r.Number, fmt.Errorf(format, args...))
	}
	earliest, next := int64(0), int64(len(c.epochs))+1
	if next > 1 {
		earliest = c.epochs[next-2]
	}
	switch {
	case r.Number != next:
		return wrong("number: stands where epoch %d must", next)
	case len(c.epochs) == c.bounds.epochs:
		return wrong("more than %d epochs", c.bounds.epochs)
	case r.AfterSeq < earliest || r.AfterSeq > c.head:
		return wrong("after_seq: %d is not from %d to %d", r.AfterSeq, earliest, c.head)
	case r.At.IsZero():
		return wrong("%w", missing("at"))
	}
	c.epochs = append(c.epochs, r.AfterSeq)
	if c.trusted {
		return nil
	}
	if r.Doc == "" {
		return wrong("%w", missing("doc"))
	}
	e, err := prompt.DecodeEpoch(*r)
	if err != nil {
		return err
	}
	if e.From < 1 || e.From > r.AfterSeq+1 {
		return wrong("doc.from: %d is not from 1 to %d", e.From, r.AfterSeq+1)
	}
	for _, k := range e.Kept {
		if k.From < 1 || k.From > k.To || k.To > r.AfterSeq {
			return wrong("doc.kept: %d–%d are no turns of %d", k.From, k.To, r.AfterSeq)
		}
	}
	if err := c.refs(&e); err != nil {
		return wrong("doc.checkpoints: %w", err)
	}
	if err := checkPaged(&e); err != nil {
		return wrong("doc.paged: %w", err)
	}
	if err := checkQuotes(&e); err != nil {
		return wrong("doc.quotes: %w", err)
	}
	if e.Before < 0 || e.Before >= r.Number {
		return wrong("doc.before: epoch %d is not before it", e.Before)
	}
	if e.Restored < 0 || e.Restored >= r.Number {
		return wrong("doc.restored: epoch %d is not before it", e.Restored)
	}
	if e.Began < 0 || e.Began > e.From {
		return wrong("doc.began: %d is not from 1 to %d", e.Began, e.From)
	}
	if _, there := c.settings[e.Settings]; !there {
		return wrong("doc.settings: no settings %.64q stand before it", e.Settings)
	}
	c.settings[e.Settings] = true
	return nil
}

// checkPaged checks that what is only named are turns, in the order in which they end.
func checkPaged(e *prompt.Epoch) error {
	last := int64(0)
	for _, h := range e.Paged {
		switch {
		case h.From < 1 || h.From > h.To || h.To > e.AfterSeq:
			return fmt.Errorf("%d–%d are no turns of %d", h.From, h.To, e.AfterSeq)
		case h.To <= last:
			return fmt.Errorf("%d–%d stand after turn %d", h.From, h.To, last)
		case h.Messages < 0 || h.Tokens < 0:
			return fmt.Errorf("%d messages of %d tokens at %d–%d", h.Messages, h.Tokens, h.From, h.To)
		}
		last = h.To
	}
	return nil
}

// checkQuotes checks that what is quoted are parts of turns, in the order of the log, and what is named instead are
// turns, ascending and apart.
func checkQuotes(e *prompt.Epoch) error {
	last := prompt.Quote{Turn: 1}
	for _, q := range e.Quotes {
		switch {
		case q.Turn < 1 || q.Turn >= e.From:
			return fmt.Errorf("turn %d is none before %d", q.Turn, e.From)
		case q.From < 0 || q.To <= q.From || q.Tokens < 0:
			return fmt.Errorf("bytes %d–%d of turn %d, %d tokens", q.From, q.To, q.Turn, q.Tokens)
		case q.Turn < last.Turn || q.Turn == last.Turn && q.From < last.To:
			return fmt.Errorf("bytes %d–%d of turn %d stand after those of turn %d up to %d", q.From, q.To, q.Turn, last.Turn, last.To)
		}
		last = q
	}
	next := int64(1)
	for _, r := range e.Unquoted {
		if r.From < next || r.To < r.From || r.To >= e.From {
			return fmt.Errorf("%d–%d are no turns from %d on and before %d", r.From, r.To, next, e.From)
		}
		next = r.To + 1
	}
	return nil
}

// pageRows is how many rows that prompts need are read at once.
const pageRows = 128

// numbered yields what page returns, page after page, until there is no more. An error is terminal.
//
// A prompt that was begun before its session was forked may be kept afterwards. It takes a number that the
// fork gives, too, and stands at a turn that the fork sees: along a path one number may stand twice.
func numbered[R any](page func(after int64, limit int) ([]R, error), number func(*R) int64) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		after := int64(0)
		for more := true; more; {
			rows, err := page(after, pageRows)
			if err != nil {
				var none R
				yield(none, err)
				return
			}
			if more = len(rows) == pageRows; more {
				// The next page begins with the last number, in case it ends in the midst of it.
				last := number(&rows[pageRows-1])
				if i := slices.IndexFunc(rows, func(r R) bool { return number(&r) == last }); i > 0 {
					rows = rows[:i]
				}
			}
			for i := range rows {
				if !yield(rows[i], nil) {
					return
				}
				after = number(&rows[i])
			}
		}
	}
}

// epochRows yields the epochs along the session's path. Of those with one number the last one counts,
// which is the session's own.
func (e *export) epochRows(ctx context.Context) iter.Seq2[prompt.EpochRow, error] {
	spans := e.info.Lineage(e.info.Head)
	page := func(after int64, limit int) ([]prompt.EpochRow, error) {
		return e.tx.Prompt().Epochs(ctx, e.info.Tenant, spans, after, limit)
	}
	return func(yield func(prompt.EpochRow, error) bool) {
		var last prompt.EpochRow
		for row, err := range numbered(page, func(r *prompt.EpochRow) int64 { return r.Number }) {
			if err != nil {
				yield(row, fmt.Errorf("epochs: %w", err))
				return
			}
			if last.Number != 0 && last.Number != row.Number && !yield(last, nil) {
				return
			}
			last = row
		}
		if last.Number != 0 {
			yield(last, nil)
		}
	}
}

func (e *export) epochs(ctx context.Context) error {
	for row, err := range e.epochRows(ctx) {
		if err != nil {
			return err
		}
		if err := e.enc.Encode(Record{Epoch: &row}); err != nil {
			return err
		}
	}
	return nil
}

func (i *imported) epoch(ctx context.Context, r *prompt.EpochRow) error {
	if err := i.tx.Prompt().InsertEpoch(ctx, i.session.Tenant, i.session.Segment, *r); err != nil {
		return fmt.Errorf("epoch %d: %w", r.Number, err)
	}
	return nil
}
