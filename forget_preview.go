package turnstone

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// errPreview ends an update that is not to be made.
var errPreview = errors.New("only a preview")

// preview makes the update and takes it back, so that it counts what would be counted.
func (f *forgetting) preview(ctx context.Context) (Receipt, error) {
	if err := f.engine.store.View(ctx, func(tx store.Tx) error { return f.read(ctx, tx) }); err != nil {
		return Receipt{}, err
	}
	err := f.engine.store.Update(ctx, func(tx store.Tx) error {
		if err := f.tryOut(ctx, tx); err != nil {
			return err
		}
		return errPreview
	})
	if !errors.Is(err, errPreview) {
		return Receipt{}, err
	}
	return f.wouldBe(), nil
}

// tryOut makes the update in a transaction that is taken back.
func (f *forgetting) tryOut(ctx context.Context, tx store.Tx) error {
	f.counts, f.touched, f.at = nil, nil, tx.Now()
	return f.rewrite(ctx, tx)
}

// wouldBe is the receipt of what was tried out.
func (f *forgetting) wouldBe() Receipt {
	var files []keptFile
	for i := range f.sessions {
		for _, file := range keptFiles(f.sessions[i].handle, &f.sessions[i].info) {
			file.of = i
			if file.lost = !file.exists(); !file.lost {
				file.stale = f.staleIn(file)
			}
			if !file.lost || file.noted {
				files = append(files, file)
			}
		}
	}
	f.countFiles(files)
	r := f.receipt()
	r.Preview = true
	return r
}

// previewAll adds up the receipts that forgetting one session after the other would have.
func (e *Engine) previewAll(ctx context.Context, targets []Target, all *Receipt) error {
	families, err := e.families(ctx, targets)
	if err != nil {
		return err
	}
	receipts := make([]Receipt, len(targets))
	for _, family := range families {
		if err := e.previewFamily(ctx, targets, family, receipts); err != nil {
			return err
		}
	}
	for _, one := range receipts {
		all.add(one)
	}
	return nil
}

// previewFamily tries out to forget sessions that reach the same: in one update, so that what the first takes is not
// counted for the next one too. The others have updates of their own, since nobody else can write during one.
func (e *Engine) previewFamily(ctx context.Context, targets []Target, family []int, receipts []Receipt) (err error) {
	if len(family) == 1 {
		receipts[family[0]], err = e.forget(ctx, targets[family[0]])
		return err
	}
	err = e.store.Update(ctx, func(tx store.Tx) error {
		for _, i := range family {
			f := e.forgetting(targets[i])
			if err := f.read(ctx, tx); err != nil {
				return err
			}
			if err := f.tryOut(ctx, tx); err != nil {
				return err
			}
			receipts[i] = f.wouldBe()
		}
		return errPreview
	})
	if errors.Is(err, errPreview) {
		return nil
	}
	return err
}

// families puts targets together, by their positions, of which some session sees turns of both, as forks and copies do.
func (e *Engine) families(ctx context.Context, targets []Target) ([][]int, error) {
	lead := make([]int, len(targets)) // from each to another of its family, in the end to the one that leads to itself
	leader := func(i int) int {
		for lead[i] != i {
			lead[i] = lead[lead[i]]
			i = lead[i]
		}
		return i
	}
	reaches := make(map[turn.Key]int, len(targets)) // one that reaches the session
	for i, target := range targets {
		lead[i] = i
		f := e.forgetting(target)
		if err := e.store.View(ctx, func(tx store.Tx) error { return f.reach(ctx, tx) }); err != nil {
			return nil, err
		}
		for _, key := range f.keys() {
			if other, met := reaches[key]; met {
				lead[leader(other)] = leader(i)
			}
			reaches[key] = i
		}
	}
	members := make(map[int][]int)
	for i := range targets {
		members[leader(i)] = append(members[leader(i)], i)
	}
	return slices.Collect(maps.Values(members)), nil
}
