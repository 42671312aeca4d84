package prompt_test

import (
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// faults makes what is read from a store other than it is.
type faults struct {
	read     int                       // turns that were returned
	fail     func(method string) error // nil where nothing fails
	turn     func(*turn.Turn)
	gone     func(seq int64) bool
	material func(text string) string
	epoch    func(*prompt.EpochRow)
	// checkpoint damages a row, or takes it away.
	checkpoint func(*compress.Row) error
}

func (f *faults) at(method string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(method)
}

func (f *faults) log(rows turn.TurnRows) turn.TurnRows { return faultyLog{rows, f} }
func (f *faults) prompts(rows prompt.Rows) prompt.Rows { return faultyPrompts{rows, f} }
func (f *faults) checkpoints(rows compress.Rows) compress.Rows {
	return faultyCheckpoints{rows, f}
}

type faultyCheckpoints struct {
	compress.Rows
	f *faults
}

func (c faultyCheckpoints) Checkpoint(ctx context.Context, tenant string, spans []span.Span, number, version int64) (compress.Row, error) {
	if err := c.f.at("Checkpoint"); err != nil {
		return compress.Row{}, err
	}
	row, err := c.Rows.Checkpoint(ctx, tenant, spans, number, version)
	if err == nil && c.f.checkpoint != nil {
		err = c.f.checkpoint(&row)
	}
	return row, err
}

func (c faultyCheckpoints) Checkpoints(ctx context.Context, tenant string, spans []span.Span, after int64, limit int) ([]compress.Row, error) {
	if err := c.f.at("Checkpoints"); err != nil {
		return nil, err
	}
	return c.Rows.Checkpoints(ctx, tenant, spans, after, limit)
}

type faultyLog struct {
	turn.TurnRows
	f *faults
}

func (l faultyLog) altered(turns []turn.Turn) []turn.Turn {
	l.f.read += len(turns)
	if l.f.gone != nil {
		turns = slices.DeleteFunc(slices.Clone(turns), func(t turn.Turn) bool { return l.f.gone(t.Seq) })
	}
	if l.f.turn != nil {
		turns = slices.Clone(turns)
		for i := range turns {
			l.f.turn(&turns[i])
		}
	}
	return turns
}

func (l faultyLog) Scan(ctx context.Context, tenant string, s turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	if err := l.f.at("Scan"); err != nil {
		return nil, err
	}
	turns, err := l.TurnRows.Scan(ctx, tenant, s, f, limit)
	return l.altered(turns), err
}

func (l faultyLog) Units(ctx context.Context, tenant string, segment, first, last int64) ([]turn.Turn, error) {
	if err := l.f.at("Units"); err != nil {
		return nil, err
	}
	turns, err := l.TurnRows.Units(ctx, tenant, segment, first, last)
	return l.altered(turns), err
}

type faultyPrompts struct {
	prompt.Rows
	f *faults
}

func (p faultyPrompts) LastEpoch(ctx context.Context, tenant string, spans []span.Span) (prompt.EpochRow, error) {
	if err := p.f.at("LastEpoch"); err != nil {
		return prompt.EpochRow{}, err
	}
	row, err := p.Rows.LastEpoch(ctx, tenant, spans)
	if p.f.epoch != nil {
		p.f.epoch(&row)
	}
	return row, err
}

func (p faultyPrompts) Epoch(ctx context.Context, tenant string, spans []span.Span, number int64) (prompt.EpochRow, error) {
	if err := p.f.at("Epoch"); err != nil {
		return prompt.EpochRow{}, err
	}
	row, err := p.Rows.Epoch(ctx, tenant, spans, number)
	if p.f.epoch != nil {
		p.f.epoch(&row)
	}
	return row, err
}

func (p faultyPrompts) InsertEpoch(ctx context.Context, tenant string, segment int64, r prompt.EpochRow) error {
	if err := p.f.at("InsertEpoch"); err != nil {
		return err
	}
	return p.Rows.InsertEpoch(ctx, tenant, segment, r)
}

func (p faultyPrompts) InsertPin(ctx context.Context, tenant string, segment int64, r prompt.PinRow) error {
	if err := p.f.at("InsertPin"); err != nil {
		return err
	}
	return p.Rows.InsertPin(ctx, tenant, segment, r)
}

func (p faultyPrompts) InsertCall(ctx context.Context, tenant string, segment int64, r prompt.CallRow) error {
	if err := p.f.at("InsertCall"); err != nil {
		return err
	}
	return p.Rows.InsertCall(ctx, tenant, segment, r)
}

func (p faultyPrompts) LastCall(ctx context.Context, tenant string, spans []span.Span, end int64) (prompt.CallRow, error) {
	if err := p.f.at("LastCall"); err != nil {
		return prompt.CallRow{}, err
	}
	return p.Rows.LastCall(ctx, tenant, spans, end)
}

func (p faultyPrompts) Pins(ctx context.Context, tenant string, spans []span.Span) ([]prompt.PinRow, error) {
	if err := p.f.at("Pins"); err != nil {
		return nil, err
	}
	return p.Rows.Pins(ctx, tenant, spans)
}

func (p faultyPrompts) PutMaterial(ctx context.Context, tenant, sha256, text string, at time.Time) error {
	if err := p.f.at("PutMaterial"); err != nil {
		return err
	}
	return p.Rows.PutMaterial(ctx, tenant, sha256, text, at)
}

func (p faultyPrompts) Material(ctx context.Context, tenant, sha256 string) (string, error) {
	if err := p.f.at("Material"); err != nil {
		return "", err
	}
	text, err := p.Rows.Material(ctx, tenant, sha256)
	if p.f.material != nil {
		text = p.f.material(text)
	}
	return text, err
}
