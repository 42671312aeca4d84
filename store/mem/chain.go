package mem

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/turn"
)

// chainRows is the transaction as links see it.
type chainRows struct{ *tx }

// PutLink implements [chain.Rows].
func (r chainRows) PutLink(ctx context.Context, l chain.Link) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	key := hashKey{l.Tenant, l.Hash}
	list := slices.DeleteFunc(slices.Clone(r.data.links[key]), func(have chain.Link) bool { return have.Session == l.Session })
	i, _ := slices.BinarySearchFunc(list, l, newestLink)
	put(r.tx, r.data.links, key, slices.Insert(list, i, l))
	return nil
}

func newestLink(a, b chain.Link) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Session, b.Session))
}

// Linked implements [chain.Rows].
func (r chainRows) Linked(ctx context.Context, tenant string, hashes []chain.Hash) (int, error) {
	if err := r.reading(ctx); err != nil {
		return -1, err
	}
	return slices.IndexFunc(hashes, func(h chain.Hash) bool { return len(r.data.links[hashKey{tenant, h}]) > 0 }), nil
}

// Links implements [chain.Rows].
func (r chainRows) Links(ctx context.Context, tenant string, h chain.Hash, limit int) ([]chain.Link, error) {
	if err := r.reading(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	list := r.data.links[hashKey{tenant, h}]
	return append([]chain.Link(nil), list[:min(limit, len(list))]...), nil
}

func dumpLinks(s *state, row func(...any) error) error {
	compare := func(a, b hashKey) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), bytes.Compare(a.hash[:], b.hash[:]))
	}
	return each(inOrder(s.links, compare), func(k hashKey) error {
		list := slices.SortedFunc(slices.Values(s.links[k]), func(a, b chain.Link) int { return cmp.Compare(a.Session, b.Session) })
		return each(list, func(l chain.Link) error {
			return row(l.Tenant, hex.EncodeToString(l.Hash[:]), l.Session, l.Seq, l.At.UnixMicro())
		})
	})
}

func (l *loader) link(ctx context.Context, v *values) error {
	k := chain.Link{Tenant: v.text()}
	text := v.text()
	if n, err := hex.Decode(k.Hash[:], []byte(text[:min(len(text), 2*len(k.Hash))])); err != nil || n != len(k.Hash) {
		return fmt.Errorf("%q is no hash", text)
	}
	k.Session, k.Seq, k.At = v.text(), v.int(), micros(v.int())
	if slices.ContainsFunc(l.tx.data.links[hashKey{k.Tenant, k.Hash}], func(have chain.Link) bool { return have.Session == k.Session }) {
		return fmt.Errorf("link of %s: %w", k.Session, turn.ErrConflict)
	}
	return chainRows{l.tx}.PutLink(ctx, k)
}
