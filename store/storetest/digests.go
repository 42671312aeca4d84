package storetest

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
)

func testDigests(t *testing.T, w *world) {
	one, two := w.create(w.key("one")).Segment, w.create(w.key("two")).Segment
	read := func(tenant string, segment int64) (d memory.DigestRow, ok bool) {
		w.view(func(tx store.Tx) (err error) {
			d, ok, err = tx.Memory().Digest(w.ctx(), tenant, segment)
			return err
		})
		return d, ok
	}
	write := func(segment int64, d memory.DigestRow) {
		w.update(func(tx store.Tx) error { return tx.Memory().PutDigest(w.ctx(), w.tenant, segment, d) })
	}

	w.run("a session has none before it is written", func(t *testing.T) {
		if d, ok := read(w.tenant, one); ok {
			t.Errorf("got %+v", d)
		}
	})

	w.run("the last one written is the session's", func(t *testing.T) {
		for _, d := range []memory.DigestRow{
			{ThroughSeq: 4, Doc: `{"topics":["東京"]}`, At: noon},
			{ThroughSeq: 2, Doc: `{}`, At: noon.Add(time.Microsecond)},
		} {
			write(one, d)
			got, ok := read(w.tenant, one)
			if !ok {
				t.Error("there is none")
			}
			same(t, "digest", got, d)
		}
	})

	w.run("sessions and tenants are apart", func(t *testing.T) {
		if d, ok := read(w.tenant, two); ok {
			t.Errorf("another session has %+v", d)
		}
		if d, ok := read("other", one); ok {
			t.Errorf("another tenant has %+v", d)
		}
	})
}
