package storetest

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
)

// testSharedNumbers has both stores open the next epoch, note the next call and pin a turn again and
// again, each in one update: one of them does all of it, the other nothing.
func testSharedNumbers(t *testing.T, a, b *world) {
	s := a.create(a.key("shared"))
	spans := upTo(s.Segment, 9)
	const rounds = 6
	for number := int64(1); number <= rounds; number++ {
		start, answers := make(chan struct{}), make(chan error, 2)
		var docs []string
		for who, w := range map[string]*world{"a": a, "b": b} {
			e, c, p := opened(number, 0), compiled(number, number, number), pin(number, 1, 1, true)
			e.Doc = fmt.Sprintf(`{"by":%q}`, who)
			c.Doc, docs = e.Doc, append(docs, e.Doc)
			go func() {
				<-start
				answers <- w.Update(w.ctx(), func(tx store.Tx) error {
					if err := tx.Prompt().InsertEpoch(w.ctx(), s.Tenant, s.Segment, e); err != nil {
						return err
					}
					if err := tx.Prompt().InsertCall(w.ctx(), s.Tenant, s.Segment, c); err != nil {
						return err
					}
					return tx.Prompt().InsertPin(w.ctx(), s.Tenant, s.Segment, p)
				})
			}()
		}
		close(start)
		losers := 0
		for range 2 {
			if err := <-answers; err != nil {
				losers++
				is(t, "the loser", err, prompt.ErrStale)
			}
		}
		if losers != 1 {
			t.Fatalf("%d of two could not write number %d", losers, number)
		}
		for _, w := range []*world{a, b} {
			e, c := w.lastEpoch(s.Tenant, spans), w.lastCall(s.Tenant, spans, 9)
			if e.Number != number || c.Number != number || e.Doc != c.Doc || e.Doc != docs[0] && e.Doc != docs[1] {
				t.Errorf("epoch %+v and call %+v are not of one update", e, c)
			}
		}
	}
	same(t, "pins", len(b.pins(s.Tenant, spans)), rounds)
}

// testSharedCalibration has both stores learn about one model, from before anything is known: no step may
// be lost.
func testSharedCalibration(t *testing.T, a, b *world) {
	const steps = 15
	errs := make(chan error, 2)
	for _, w := range []*world{a, b} {
		go func() {
			var err error
			for i := 0; i < steps && err == nil; i++ {
				err = w.Update(w.ctx(), func(tx store.Tx) error {
					c, ok, err := tx.Budget().Calibration(w.ctx(), w.tenant, "m")
					if err != nil {
						return err
					}
					n := 0
					if ok {
						if n, err = strconv.Atoi(c.Doc); err != nil {
							return err
						}
					}
					return tx.Budget().PutCalibration(w.ctx(), w.tenant, learned("m", strconv.Itoa(n+1)))
				})
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	b.view(func(tx store.Tx) error {
		c, _, err := tx.Budget().Calibration(b.ctx(), b.tenant, "m")
		same(t, "steps", c.Doc, strconv.Itoa(2*steps))
		return err
	})
}
