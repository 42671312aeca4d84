package compress

import (
	"slices"
	"strings"
)

// patchPercent is how much of a patched summary may be patches.
const patchPercent = 25

// listing writes facts a line each, by kind and then in order, files in one line.
func listing(facts []Fact) string {
	var b strings.Builder
	for _, l := range labels {
		var files []string
		for _, f := range facts {
			switch {
			case f.Kind != l.kind:
			case f.Kind == FactFile:
				files = append(files, f.Text)
			default:
				b.WriteString(f.line())
			}
		}
		if len(files) > 0 {
			b.WriteString(l.text + ": " + strings.Join(files, ", ") + "\n")
		}
	}
	return b.String()
}

// mentions writes literals in one line.
func mentions(literals []string) string {
	if len(literals) == 0 {
		return ""
	}
	return mentioned + ": " + strings.Join(literals, ", ") + "\n"
}

// patch adds to a summary the facts and literals that a verdict misses, word for word. It gives up, and
// returns ok false, if they would be more than a quarter of the whole or do not fit.
func (c *checker) patch(summary string, v Verdict) (patched string, added []string, ok bool) {
	addition := listing(v.Facts) + mentions(v.Literals)
	if addition == "" {
		return summary, nil, false
	}
	patched = strings.TrimRight(summary, "\n") + "\n" + addition
	tokens := c.r.Count(patched)
	if tokens > c.limit || c.r.Count(addition)*100 > patchPercent*tokens {
		return summary, nil, false
	}
	for _, f := range v.Facts {
		added = append(added, f.Text)
	}
	return patched, slices.Concat(added, v.Literals), true
}
