package snapshot

import "github.com/turnstone-dev/turnstone/turn"

// Path is the path of a restore: what was on the path before up to turn at, and what comes after head, the
// session's last turn at the restore. What was said in between stays in the log, out of the path. The ranges of
// before are inclusive and ascending, and the last one goes on for ever if its To is 0, as those that are
// returned; none stands for the whole session. Before is not changed.
func Path(before []turn.Range, at, head int64) []turn.Range {
	path := append(upTo(before, at), turn.Range{From: head + 1})
	if n := len(path); n > 1 && path[n-2].To == head {
		path[n-2].To = 0
		path = path[:n-1]
	}
	return path
}

// Count is how many turns up to at a path has.
func Count(path []turn.Range, at int64) (n int64) {
	for _, r := range upTo(path, at) {
		n += r.To - r.From + 1
	}
	return n
}

// upTo returns the ranges cut off after turn at; the slice is the caller's.
func upTo(path []turn.Range, at int64) []turn.Range {
	if len(path) == 0 {
		path = []turn.Range{{From: 1}}
	}
	cut := make([]turn.Range, 0, len(path)+1)
	for _, r := range path {
		if r.To == 0 || r.To > at {
			r.To = at
		}
		if r.From <= r.To {
			cut = append(cut, r)
		}
	}
	return cut
}
