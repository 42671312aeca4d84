package compress

import "strings"

// phrases are what a text is searched for, by their first byte.
type phrases [256][]string

// phrasesOf are phrases in lower case.
func phrasesOf(list ...string) *phrases {
	var p phrases
	for _, phrase := range list {
		p[phrase[0]] = append(p[phrase[0]], phrase)
	}
	return &p
}

// in reports whether one of the phrases stands in a text in lower case, not within a word.
func (p *phrases) in(low string) bool {
	inside := false
	for i := range len(low) {
		if !inside {
			for _, phrase := range p[low[i]] {
				end := i + len(phrase)
				if strings.HasPrefix(low[i:], phrase) && (end == len(low) || !letter(low[end-1]) || !letter(low[end])) {
					return true
				}
			}
		}
		inside = letter(low[i])
	}
	return false
}

func letter(b byte) bool { return 'a' <= b && b <= 'z' }
