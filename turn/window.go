package turn

import "slices"

// WindowSize is how many utterances the recent window holds.
const WindowSize = 7

// Window is the seed's fast-access "recent" list: the last 7 utterances of a session, each with the
// tool results that belong to it. It changes only by [Window.Push], and never what [Window.Last]
// returned before.
type Window struct {
	shown []Turn // whole units only, ascending; replaced, never changed in place
	open  []Turn // calls that wait for results, and the results that came so far
}

// NewWindow makes a window of a history compiled with WindowSize turns and no system turns.
func NewWindow(history []Turn) *Window {
	return &Window{shown: slices.Clone(history)}
}

// Size returns how many bytes of text the window holds on to.
func (w *Window) Size() int64 {
	return Size(w.shown...) + Size(w.open...)
}

// Size is how many bytes of text turns hold.
func Size(turns ...Turn) (n int64) {
	for i := range turns {
		n += turns[i].Content.size()
	}
	return n
}

// Push adds the next turn of the log. It reports false for a result whose call the window has not
// seen: the window must then be made anew.
func (w *Window) Push(t Turn) bool {
	if _, isResult := t.Content.(Result); isResult {
		return w.pushResult(t)
	}
	switch {
	case !t.Utterance():
	case len(t.Calls()) > 0:
		w.open = append(w.open, t)
	default:
		w.show(t)
	}
	return true
}

func (w *Window) pushResult(t Turn) bool {
	if !slices.ContainsFunc(w.open, func(o Turn) bool { return o.Seq == t.Unit }) {
		return false
	}
	w.open = append(w.open, t)
	var members, rest []Turn
	for _, o := range w.open {
		if o.Unit == t.Unit {
			members = append(members, o)
		} else {
			rest = append(rest, o)
		}
	}
	if Complete(members) {
		w.open = rest
		w.show(members...)
	}
	return true
}

// show adds turns and drops the oldest utterances past the window's size.
func (w *Window) show(turns ...Turn) {
	shown := slices.Concat(w.shown, turns)
	slices.SortFunc(shown, func(a, b Turn) int { return int(a.Seq - b.Seq) })
	w.shown = lastUtterances(shown, WindowSize)
}

// Last returns the last n utterances with their results, all of the window's if n is larger. The
// slice is shared with other readers, so that reading costs nothing: it must not be changed, though
// it may be appended to.
func (w *Window) Last(n int) []Turn {
	if n <= 0 {
		return nil
	}
	return lastUtterances(w.shown, n)
}

// lastUtterances returns the last n utterances, and the results of those among them that are calls.
func lastUtterances(turns []Turn, n int) []Turn {
	first, found := int64(0), 0
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == System {
			continue
		}
		if found == n {
			return sinceUtterance(turns[i+1:], first)
		}
		first, found = turns[i].Seq, found+1
	}
	return slices.Clip(turns)
}

// sinceUtterance returns turns from the utterance at seq first on. Results of calls before it may
// stand among them and are left out.
func sinceUtterance(turns []Turn, first int64) []Turn {
	belongs := func(t *Turn) bool { return t.Seq >= first && (t.Role != System || t.Unit >= first) }
	begin := 0
	for begin < len(turns) && !belongs(&turns[begin]) {
		begin++
	}
	turns = turns[begin:]
	for i := range turns {
		if !belongs(&turns[i]) {
			return slices.DeleteFunc(slices.Clone(turns), func(t Turn) bool { return !belongs(&t) })
		}
	}
	return slices.Clip(turns)
}
