package commit

import (
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/redact"
)

// sums tell apart what exchanges gave of what is not kept as it was given: the name of each field that holds anything, with a checksum
// of it. They are short, so that nothing that is forgotten can be found by them.
func (ex *Exchange) sums() (sums []string) {
	var text []byte
	crc := uint32(0)
	take := func() { crc, text = crc32.Update(crc, crc32.IEEETable, text), text[:0] }
	sum := func(field string) {
		take()
		sums = append(sums, field+" "+strconv.FormatUint(uint64(crc), 16))
		crc = 0
	}
	if len(ex.Errors) > 0 {
		text = record.AppendTexts(append(text, '{'), "errors", ex.Errors)
		sum("errors")
	}
	if len(ex.Candidates) > 0 {
		for _, c := range ex.Candidates {
			// Most of it, which needs no escaping to be compared.
			for _, long := range [...]*string{&c.Text, &c.Data} {
				text = append(strconv.AppendInt(text, int64(len(*long)), 10), *long...)
				*long = ""
				take()
			}
			text = c.AppendJSON(text)
		}
		sum("candidates")
	}
	if n := len(ex.Intentions.Goals) + len(ex.Intentions.Actions); n > 0 {
		text = ex.Intentions.AppendJSON(text)
		sum("intentions")
	}
	if n := len(ex.Scratch.Put) + len(ex.Scratch.Archive) + len(ex.Scratch.Clear); n > 0 {
		text = ex.Scratch.AppendJSON(text)
		sum("scratch")
	}
	return sums
}

// unlike returns the first field of which the exchange gives something else than the one did that these are the sums of; empty where
// there is none. What is not given is not compared, and what was forgotten cannot be.
func (ex *Exchange) unlike(sums []string) string {
	if slices.ContainsFunc(sums, redact.IsMark) {
		return ""
	}
	for _, sum := range ex.sums() {
		if !slices.Contains(sums, sum) {
			field, _, _ := strings.Cut(sum, " ")
			return field
		}
	}
	return ""
}
