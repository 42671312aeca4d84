package scratch

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
)

// Page is the live observations of a session as they were read. It never changes and is safe for
// concurrent use: what it hands out are copies. The zero Page is an empty one.
type Page struct {
	// list is by id, with archived ones only where Including or LoadKept found them. Pages have those in common that
	// did not change from one to the next.
	list []*Observation
}

// Load reads a session's page: what is live and expires after now.
func Load(ctx context.Context, rows Rows, tenant string, segment int64, now time.Time) (*Page, error) {
	return load(ctx, rows, tenant, segment, now, true)
}

// LoadKept reads a session's page with all that is archived and not deleted yet, for [Page.Kept] and [Found].
func LoadKept(ctx context.Context, rows Rows, tenant string, segment int64, now time.Time) (*Page, error) {
	return load(ctx, rows, tenant, segment, now, false)
}

func load(ctx context.Context, rows Rows, tenant string, segment int64, now time.Time, live bool) (*Page, error) {
	found, err := rows.Observations(ctx, tenant, segment, now, live)
	if err != nil {
		return nil, fmt.Errorf("observations: %w", err)
	}
	p := &Page{list: make([]*Observation, 0, len(found))}
	for _, r := range found {
		r, kept, err := r.AsOf(now)
		if err == nil && kept {
			err = p.add(r)
		}
		if err != nil && r.Status == Archived {
			continue // damaged, and of no use to anybody: it must not keep the others from being read
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// At returns the page as it is at that time: what has expired by then is no longer live, and still known to be
// archived. It is p itself where nothing has.
func (p *Page) At(now time.Time) *Page {
	if p.count(func(o *Observation) bool { return !o.ExpiresAt.After(now) }) == 0 {
		return p
	}
	at := &Page{}
	for _, o := range p.list {
		if o, kept := o.at(now); kept {
			at.list = append(at.list, &o)
		}
	}
	return at
}

// Including returns the page with what it knows of those observations that the changes name and p
// lacks, because they are archived. Without it a change to one of them would bring it back. Where
// the changes name none that p lacks, it costs nothing.
func (p *Page) Including(ctx context.Context, rows Rows, tenant string, segment int64, ch Changes, now time.Time) (*Page, error) {
	with := p
	for id := range ch.named() {
		if _, known := with.find(id); known || id == "" || record.CheckText("id", id, len(id)) != nil {
			continue // there is none of an id that no store can keep, and some cannot even be asked for it
		}
		r, ok, err := rows.Observation(ctx, tenant, segment, id)
		if err != nil {
			return nil, fmt.Errorf("observation %s: %w", id, err)
		}
		if !ok {
			continue
		}
		r, kept, err := r.AsOf(now)
		if err != nil {
			return nil, err
		}
		if !kept || r.Status != Archived {
			continue
		}
		if with == p {
			with = &Page{list: slices.Clone(p.list)}
		}
		if err := with.add(r); err != nil {
			return nil, err
		}
	}
	return with, nil
}

// Observations returns what is live, by id.
func (p *Page) Observations() []Observation {
	return p.selected(func(o *Observation) bool { return o.Status.live() })
}

// Kept returns what is live and what of the archived [LoadKept] read, by id.
func (p *Page) Kept() []Observation { return p.selected(func(*Observation) bool { return true }) }

// Observation returns the live observation of that id.
func (p *Page) Observation(id string) (Observation, bool) {
	i, ok := p.find(id)
	if !ok || !p.list[i].Status.live() {
		return Observation{}, false
	}
	return p.list[i].clone(), true
}

// Content returns what the live observation of that id says, empty where there is none.
func (p *Page) Content(id string) string {
	i, ok := p.find(id)
	if !ok || !p.list[i].Status.live() {
		return ""
	}
	return p.list[i].Content
}

// Insights returns what a flow found out, oldest first: the session scratchpad. With an empty flow id
// it returns the insights of all flows.
func Insights(p *Page, flowID string) []Observation {
	return slices.DeleteFunc(KeptInsights(p, flowID), func(o Observation) bool { return !o.Live() })
}

// KeptInsights is [Insights] with what of the archived [LoadKept] read.
func KeptInsights(p *Page, flowID string) []Observation {
	list := p.selected(func(o *Observation) bool {
		return o.Type == FlowInsight && (flowID == "" || o.Flow() == flowID)
	})
	slices.SortStableFunc(list, older)
	return list
}

// Found returns what flows found out, for those who summarise, oldest first: the insights of the page, and of
// what [LoadKept] read those that are archived only because their day was over, the newest of them, as far as a
// flow and the scratchpad have room for them.
func Found(p *Page) []Observation {
	found := Insights(p, "")
	of := make(map[string]int)
	for _, o := range found {
		of[o.Flow()]++
	}
	aged := p.selected(func(o *Observation) bool { return o.Type == FlowInsight && o.aged() })
	slices.SortStableFunc(aged, func(a, b Observation) int { return older(b, a) })
	for _, o := range aged {
		if len(found) < MaxInsights && of[o.Flow()] < MaxFlowInsights {
			of[o.Flow()]++
			found = append(found, o)
		}
	}
	slices.SortStableFunc(found, older)
	return found
}

// older orders by creation, and what was created at once by id.
func older(a, b Observation) int {
	if order := a.CreatedAt.Compare(b.CreatedAt); order != 0 {
		return order
	}
	return strings.Compare(a.ID, b.ID)
}

func (p *Page) selected(want func(*Observation) bool) []Observation {
	var list []Observation
	for _, o := range p.list {
		if want(o) {
			list = append(list, o.clone())
		}
	}
	return list
}

func (p *Page) count(want func(*Observation) bool) int {
	n := 0
	for _, o := range p.list {
		if want(o) {
			n++
		}
	}
	return n
}

func (p *Page) find(id string) (int, bool) {
	return sort.Find(len(p.list), func(i int) int { return strings.Compare(id, p.list[i].ID) })
}

// add reads a row into a page that nobody else has yet.
func (p *Page) add(r Row) error {
	o, err := r.observation()
	if err != nil {
		return err
	}
	p.put(&o)
	return nil
}

func (p *Page) put(o *Observation) {
	i, ok := p.find(o.ID)
	if !ok {
		p.list = slices.Insert(p.list, i, o)
		return
	}
	p.list[i] = o
}
