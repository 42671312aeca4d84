package prompt_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
)

// TestAPromptIsCountedAsItsModelDoes changes who counts between prompts; compile compares what is in memory by then
// with what the new counter makes of the store.
func TestAPromptIsCountedAsItsModelDoes(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(call("a"), result("a", "会議は金曜日です 🙂"), user("func main() {\n\treturn\n}"), agent("so be it"))
	was := w.compile()
	learned := w.request.Counter.Calibration()
	for range 20 {
		learned, _ = learned.Report(was.Tally, was.Count.Tokens+40)
	}
	w.request.Counter = budget.NewCounter(exact, nil, false, learned)
	taught := w.compile()
	if taught.Count.Tokens <= was.Count.Tokens || taught.Tally != was.Tally || taught.SHA256 != was.SHA256 {
		t.Errorf("%+v became %+v", was.Count, taught.Count)
	}
	other := exact
	other.Tokenizer = budget.Cl100k
	w.request.Counter = budget.NewCounter(other, nil, false, budget.Calibration{})
	if p := w.compile(); p.Tally == was.Tally || p.SHA256 != was.SHA256 || p.Opened != "" {
		t.Errorf("%+v is counted as %+v, opened %q", was.Tally, p.Tally, p.Opened)
	}
}

// inOrder notes in which order materials are put.
type inOrder struct {
	prompt.Rows
	sums *[]string
}

func (r inOrder) PutMaterial(_ context.Context, _, sha256, _ string, _ time.Time) error {
	*r.sums = append(*r.sums, sha256)
	return nil
}

func TestMaterialsArePutInOneOrder(t *testing.T) {
	w := newWorld(t, 2048)
	sealed := seal(t, fullSettings())
	var sums []string
	w.update(func(tx store.Tx) error {
		return sealed.Put(t.Context(), inOrder{tx.Prompt(), &sums}, w.key.Tenant, tx.Now())
	})
	if !slices.IsSorted(sums) || len(sums) != len(sealed.Materials) {
		t.Errorf("%v", sums)
	}
}
