package memory

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Topic is a word that a conversation keeps coming back to.
type Topic struct {
	Word string // as it was written
	// Score grows with every turn that is about it and fades with every turn that is not.
	Score int64
}

const (
	maxTopic      = 24 // bytes
	maxTurnTopics = 6
	maxTopics     = 12
	topicScore    = 1000
	maxSeen       = 200 // different words that are counted, more than topicBytes hold
	// topicBytes is how much of input and reply is read for its topics: people come to the point.
	topicBytes = 384
)

// topicsOf returns the words that an exchange is most about, as they were first written: those said
// most often, what the user says counting twice, and of these the first.
func topicsOf(input, reply string) []string {
	var room [maxSeen]topicCount
	seen := room[:0]
	var places [256]uint8 // by key: the place in seen, from 1
	texts := [2]string{firstBytes(input, topicBytes), firstBytes(reply, topicBytes)}
	for i, text := range texts {
		eachWord(text, func(start, end int) {
			word := text[start:end]
			if len(word) < 3 || len(word) > maxTopic {
				return
			}
			key := topicKeyAt(text, start, end)
			if knownWords.kinds(key)&(stopWord|dullWord) != 0 || onlyNumber(word) {
				return
			}
			slot := key
			for places[uint8(slot)] != 0 && seen[places[uint8(slot)]-1].key != key {
				slot++
			}
			if places[uint8(slot)] == 0 {
				if len(seen) == maxSeen {
					return
				}
				seen = append(seen, topicCount{key: key, text: uint8(i), start: uint16(start), size: uint8(len(word))})
				places[uint8(slot)] = uint8(len(seen))
			}
			seen[places[uint8(slot)]-1].count += 2 - uint16(i)
		})
	}
	if len(seen) == 0 {
		return nil
	}
	var best [maxTurnTopics]*topicCount
	n := 0
	for i := range seen {
		if n == len(best) && seen[i].count <= best[n-1].count {
			continue
		}
		n = min(n+1, len(best))
		at := n - 1
		for ; at > 0 && seen[i].count > best[at-1].count; at-- {
			best[at] = best[at-1]
		}
		best[at] = &seen[i]
	}
	// Copied, in one text for all: a digest keeps topics for long, and would keep with them all that was said.
	var words [maxTurnTopics * maxTopic]byte
	said := words[:0]
	for _, t := range best[:n] {
		said = append(said, texts[t.text][t.start:][:t.size]...)
	}
	rest := string(said)
	topics := make([]string, n)
	for i, t := range best[:n] {
		topics[i], rest = rest[:t.size], rest[t.size:]
	}
	return topics
}

// onlyNumber reports whether there are but digits and what joins them.
func onlyNumber(word string) bool {
	for i := 0; i < len(word); i++ {
		if c := word[i]; (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// topicCount is how often a word was said, which is where it was first. It is small, since there is room for many.
type topicCount struct {
	key          uint64
	start, count uint16
	text, size   uint8
}

// topicKey is the same for the common forms of a word.
func topicKey(word string) uint64 { return topicKeyAt(word, 0, len(word)) }

// topicKeyAt is topicKey of a word in a text.
func topicKeyAt(text string, start, end int) uint64 {
	if n := end - start; n < 16 {
		r := register{low: eightAt(text, start)}
		size := wordBytes(r.low)
		if size == 8 {
			r.high = eightAt(text, start+8)
			size += wordBytes(r.high)
		}
		if size >= n {
			return r.hash(n)
		}
	}
	word := text[start:end]
	var buffer [maxTerm]byte
	if len(word) > len(buffer) {
		return hashWord(stemmed([]byte(strings.ToLower(word))))
	}
	for i := 0; i < len(word); i++ {
		c := word[i]
		if c >= utf8.RuneSelf {
			return hashWord(stemmed(append(buffer[:0], strings.ToLower(word)...)))
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buffer[i] = c
	}
	return hashWord(stemmed(buffer[:len(word)]))
}

// eachWord calls yield with where the words of text start and end: letters and digits with their marks, hyphens and
// underscores inside.
func eachWord(text string, yield func(start, end int)) {
	start := -1
	for i := 0; i < len(text); {
		n := wordBytes(eightAt(text, i))
		if n > 0 && start < 0 {
			start = i
		}
		if i += n; n == 8 || i == len(text) {
			continue
		}
		r, size := rune(text[i]), 1
		inside := false
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
			inside = unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		} else if (r == '-' || r == '_') && start >= 0 {
			next, _ := utf8.DecodeRuneInString(text[i+1:])
			inside = unicode.IsLetter(next) || unicode.IsDigit(next)
		}
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			yield(start, i)
			start = -1
		}
		i += size
	}
	if start >= 0 {
		yield(start, len(text))
	}
}

// fade returns the topics after another turn: what it was about rises, everything else fades, and of
// those with the same score the newest come first.
func fade(topics []Topic, said []string) []Topic {
	next := make([]Topic, 0, len(topics)+len(said))
	keys := make([]uint64, 0, maxTurnTopics)
	for _, word := range said {
		next = append(next, Topic{Word: word, Score: topicScore})
		keys = append(keys, topicKey(word))
	}
	for _, t := range topics {
		key := topicKey(t.Word)
		faded := t.Score * 9 / 10
		at := slices.Index(keys, key)
		if at >= 0 {
			next[at].Score += faded
			next[at].Word = t.Word
		} else if faded >= topicScore/10 {
			next = append(next, Topic{Word: t.Word, Score: faded})
		}
	}
	slices.SortStableFunc(next, func(a, b Topic) int { return cmp.Compare(b.Score, a.Score) })
	return next[:min(len(next), maxTopics)]
}

// unsay takes back what [fade] did to the topics for a turn that so many others came behind: what that was about has risen, and, where none
// came behind it, everything has faded.
func unsay(topics []Topic, said []string, since int) []Topic {
	risen := int64(topicScore)
	for range since {
		risen = risen * 9 / 10
	}
	keys := make([]uint64, len(said))
	for i, word := range said {
		keys[i] = topicKey(word)
	}
	before := make([]Topic, 0, len(topics))
	for _, t := range topics {
		if slices.Contains(keys, topicKey(t.Word)) {
			t.Score -= risen
		}
		if since == 0 {
			t.Score = (t.Score*10 + 8) / 9 // the least that fades to it
		}
		if t.Score >= topicScore/10 {
			before = append(before, t)
		}
	}
	slices.SortStableFunc(before, func(a, b Topic) int { return cmp.Compare(b.Score, a.Score) })
	return before
}
