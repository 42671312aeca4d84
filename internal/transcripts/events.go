package transcripts

import (
	"encoding/json"
	"fmt"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/turn"
)

// sync reads what the engine wrote by itself: to the log only summaries, and what it announced. Joined says that
// passes are part of the last change.
func (r *run) sync(joined bool) error {
	info, err := r.session.Info(r.ctx)
	if err != nil {
		return err
	}
	if info.Head > r.head {
		if err := r.summaries(); err != nil {
			return err
		}
	}
	epoch, err := r.session.Epoch(r.ctx, turnstone.Head)
	if err != nil {
		return err
	}
	if err := r.events(joined, epoch.From); err != nil {
		return err
	}
	r.shown(epoch.From)
	return nil
}

func (r *run) summaries() error {
	page, err := r.session.Query(r.ctx, turn.Query{After: r.head, Limit: 1000})
	if err != nil {
		return err
	}
	for _, t := range page.Turns {
		if t.Kind != turn.KindSummary || t.Role != turn.System || t.Seq != r.head+1 {
			return fmt.Errorf("the engine wrote turn %d by itself: %+v", t.Seq, t)
		}
		r.heard(t.Seq, turn.Draft{Role: t.Role, Kind: t.Kind, Covers: t.Covers, Content: t.Content})
	}
	return nil
}

// announced is the data of an event, as far as it matters here.
type announced struct {
	Pass          int64
	From, To      int64
	Before, After int64
	Drafted       bool
	Tier          int
	By            string
}

// events reads what was announced until the prompt's recent turns begin at seq from.
func (r *run) events(joined bool, from int64) error {
	for {
		list, err := r.eng.Events(r.ctx, r.session.ID(), r.told, 100)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, e := range list {
			r.told = e.Cursor()
			var data announced
			if err := json.Unmarshal([]byte(e.Data), &data); err != nil {
				return fmt.Errorf("event %s: %w", e.Kind, err)
			}
			if data.To < data.From {
				return fmt.Errorf("%s of turns %d to %d", e.Kind, data.From, data.To)
			}
			switch e.Kind {
			case event.AutoSnapshotCreated:
				r.apart = true // what follows is an update of its own
			case event.CompressionError:
				r.stats.Fallbacks++
			case event.AutoSummaryCreated:
				if data.By != compress.ByExtract {
					r.stats.Stood++
				}
			case event.Compressed:
				if err := r.passedBy(data, joined, from); err != nil {
					return err
				}
			}
		}
	}
}

// passedBy notes a pass. One that names no turns took none out: the recent ones begin where they did.
func (r *run) passedBy(a announced, joined bool, from int64) error {
	if a.Pass != r.passed+1 {
		return fmt.Errorf("pass %d comes after pass %d", a.Pass, r.passed)
	}
	if a.After >= a.Before {
		return fmt.Errorf("pass %d made %d tokens of %d", a.Pass, a.After, a.Before)
	}
	took := turn.Range{From: a.From, To: a.To}
	if a.To == 0 {
		took = turn.Range{From: from, To: from - 1}
	}
	if r.apart && !joined {
		r.shown(took.From)
		r.changes = append(r.changes, change{low: r.passed, took: took})
	}
	r.apart = false
	r.passed = a.Pass
	last := &r.changes[len(r.changes)-1]
	last.high, last.took = a.Pass, turn.Range{From: min(last.took.From, took.From), To: took.To}
	r.took[a.Pass] = took
	r.stats.Passes++
	r.stats.Tiers[a.Tier-1]++
	if a.Drafted {
		r.stats.Drafted++
	}
	return nil
}
