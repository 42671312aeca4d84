package chat

// past is what was written earlier, to write again.
type past struct {
	entries []string
	at      int    // the one that is shown, len(entries) for what is being written
	draft   string // what was being written when the first of them was shown
}

func newPast(entries []string) past { return past{entries: entries, at: len(entries)} }

// add takes what was sent. The same thing twice stands there once.
func (p *past) add(text string) {
	if n := len(p.entries); n == 0 || p.entries[n-1] != text {
		p.entries = append(p.entries[:n:n], text)
	}
	p.at, p.draft = len(p.entries), ""
}

// earlier returns the one before, given what is being written; false where there is none.
func (p *past) earlier(now string) (string, bool) {
	if p.at == 0 {
		return "", false
	}
	if p.at == len(p.entries) {
		p.draft = now
	}
	p.at--
	return p.entries[p.at], true
}

// later returns the one after, at last what was being written; false where there is none.
func (p *past) later() (string, bool) {
	if p.at >= len(p.entries) {
		return "", false
	}
	p.at++
	if p.at == len(p.entries) {
		return p.draft, true
	}
	return p.entries[p.at], true
}
