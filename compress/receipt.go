package compress

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
)

// ByExtract is who made a summary that no model made.
const ByExtract = "extractive"

// Bounds of what a receipt lists; what goes beyond is only counted.
const (
	maxListed  = 256
	maxListing = 1 << 10
)

// Receipt says how a summary came to be and what was checked.
type Receipt struct {
	// By is who made it: the name of a model, or [ByExtract].
	By string
	// Tries is how often a summariser was asked. Repaired says that its second answer was taken.
	Tries    int64
	Repaired bool
	// Generations is how many lossy generations lie between the turns and the summary: two where it was made of summaries of
	// parts. 0 is one, as in receipts that do not say.
	Generations int64
	// Patched are the literals and facts that were added to the answer word for word.
	Patched []string
	// Facts and Literals are how many had to be present, and Held how many literals are.
	Facts, Literals, Held int64
	// Missing are literals that matter and are not in the summary, Omitted the facts and literals for
	// which there was no room. Both can be found in the turns of the range.
	Missing, Omitted []string
	// More is how many were left out of the lists above because they got too long.
	More int64
	// Refused says why each answer that was not taken was refused.
	Refused []string
	// Before and After are the tokens of the turns and of the summary.
	Before, After int64
	SourceHash    string
}

// Fallback reports whether a summariser was asked and none of its answers could be taken.
func (r *Receipt) Fallback() bool { return r.By == ByExtract && len(r.Refused) > 0 }

// Lossy is how many lossy generations lie between the turns and the summary, one at least.
func (r *Receipt) Lossy() int64 { return max(r.Generations, 1) }

var receiptFields = record.Fields[Receipt]{
	record.Value("by", func(r *Receipt) *string { return &r.By }, record.Text[string]()),
	record.Value("tries", func(r *Receipt) *int64 { return &r.Tries }, record.Int()),
	record.Value("repaired", func(r *Receipt) *bool { return &r.Repaired }, record.Bool()),
	record.Value("generations", func(r *Receipt) *int64 { return &r.Generations }, record.Int()),
	record.List("patched", func(r *Receipt) *[]string { return &r.Patched }, record.Text[string]()),
	record.Value("facts", func(r *Receipt) *int64 { return &r.Facts }, record.Int()),
	record.Value("literals", func(r *Receipt) *int64 { return &r.Literals }, record.Int()),
	record.Value("held", func(r *Receipt) *int64 { return &r.Held }, record.Int()),
	record.List("missing", func(r *Receipt) *[]string { return &r.Missing }, record.Text[string]()),
	record.List("omitted", func(r *Receipt) *[]string { return &r.Omitted }, record.Text[string]()),
	record.Value("more", func(r *Receipt) *int64 { return &r.More }, record.Int()),
	record.List("refused", func(r *Receipt) *[]string { return &r.Refused }, record.Text[string]()),
	record.Value("before", func(r *Receipt) *int64 { return &r.Before }, record.Int()),
	record.Value("after", func(r *Receipt) *int64 { return &r.After }, record.Int()),
	record.Value("source_hash", func(r *Receipt) *string { return &r.SourceHash }, record.Text[string]()),
}

func (r *Receipt) check() error {
	if err := record.CheckLine("by", r.By, maxListing); err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"tries", r.Tries}, {"generations", r.Generations}, {"facts", r.Facts}, {"literals", r.Literals}, {"held", r.Held}, {"more", r.More},
		{"before", r.Before}, {"after", r.After},
	} {
		if f.value < 0 {
			return invalid.New(f.name, fmt.Sprintf("%d is less than nothing", f.value), "")
		}
	}
	for _, f := range []struct {
		name string
		list []string
	}{{"patched", r.Patched}, {"missing", r.Missing}, {"omitted", r.Omitted}, {"refused", r.Refused}} {
		if err := checkTexts(f.name, f.list, maxListed, maxListing); err != nil {
			return err
		}
	}
	return checkHash("source_hash", r.SourceHash)
}

// list makes of texts what a receipt may hold, and counts the rest. Some of them are what a model or a server answered,
// which may be anything: a receipt that cannot be read would make the checkpoint a damaged one.
func (r *Receipt) list(all []string) []string {
	var kept []string
	for _, s := range all {
		if len(kept) == maxListed {
			r.More++
			continue
		}
		kept = append(kept, clip(printable(s), maxListing))
	}
	return kept
}
