package turnstone_test

import (
	"encoding/binary"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// The first of any number of hashes that has links is found, wherever it stands.
func TestLinksOfManyHashes(t *testing.T) {
	st := mem.New(mem.Config{})
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	hashes := make([]chain.Hash, 1000)
	for i := range hashes {
		binary.BigEndian.PutUint32(hashes[i][:], uint32(i+1))
	}
	for _, at := range []int{3, 63, 64, 65, 999} {
		err := st.Update(t.Context(), func(tx store.Tx) error {
			return tx.Chains().PutLink(t.Context(), chain.Link{Tenant: turn.DefaultTenant, Hash: hashes[at], Session: "s", Seq: int64(at), At: tx.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ from, to, want int }{
		{0, 1000, 3}, {4, 1000, 63 - 4}, {64, 1000, 0}, {65, 1000, 0}, {66, 1000, 999 - 66}, {66, 999, -1}, {0, 3, -1}, {0, 0, -1},
	} {
		links, of, err := eng.Links(t.Context(), hashes[test.from:test.to]...)
		if err != nil || of != test.want || of >= 0 && (len(links) != 1 || links[0].Seq != int64(test.from+of)) || of < 0 && links != nil {
			t.Errorf("from %d to %d: %v, %d, %v", test.from, test.to, links, of, err)
		}
	}
}
