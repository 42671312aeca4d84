package memory

import (
	"cmp"
	"maps"
	"slices"
)

// vocabulary is a set of words that are known to be of some kind, by their hash, with the kinds in bits of it. It is asked for
// every word that is looked at, so that one look answers all questions, and without a branch: every known word
// has a place of its own, which its hash and the step of its group lead to.
type vocabulary struct {
	steps [128]uint8 // by group
	words [512]uint64
}

// The kinds of words.
const (
	stopWord   = 1 << 60
	actionWord = 1 << 61
	dullWord   = 1 << 62
	anyKind    = stopWord | actionWord | dullWord
)

var knownWords = newVocabulary()

func newVocabulary() *vocabulary {
	known := make(map[uint64]uint64) // the kinds by the hash
	for kind, words := range map[uint64][]string{stopWord: stopWords, actionWord: actionWords, dullWord: dullWords} {
		for _, word := range words {
			known[hashWord(stemmed([]byte(word)))&^anyKind] |= kind
		}
	}
	v := new(vocabulary)
	groups := make([][]uint64, len(v.steps))
	for _, h := range slices.Sorted(maps.Keys(known)) {
		groups[v.group(h)] = append(groups[v.group(h)], h)
	}
	// Large groups first, while there is room for them.
	slices.SortStableFunc(groups, func(a, b []uint64) int { return cmp.Compare(len(b), len(a)) })
	for _, group := range groups {
		if !v.place(group, known) {
			panic("memory: there is no room for the known words: make vocabulary.words larger")
		}
	}
	return v
}

// place finds a step with which each word of a group has a place of its own, and puts them there.
func (v *vocabulary) place(group []uint64, known map[uint64]uint64) bool {
	for step := range 256 {
		placed := 0
		for _, h := range group {
			v.steps[v.group(h)] = uint8(step)
			if v.words[v.slot(h)] != 0 {
				break
			}
			v.words[v.slot(h)] = h | known[h]
			placed++
		}
		if placed == len(group) {
			return true
		}
		for _, h := range group[:placed] {
			v.words[v.slot(h)] = 0
		}
	}
	return false
}

func (v *vocabulary) group(h uint64) uint64 { return h % uint64(len(v.steps)) }

// slot returns where h is, if it is there.
func (v *vocabulary) slot(h uint64) uint64 {
	return (h>>8 + uint64(v.steps[v.group(h)])*(h>>20|1)) % uint64(len(v.words))
}

// kinds returns what is known of a word.
func (v *vocabulary) kinds(h uint64) uint64 {
	found, kinds := v.words[v.slot(h)], uint64(0)
	if (found^h)&^anyKind == 0 {
		kinds = found & anyKind
	}
	return kinds
}

// stopWords say nothing about what a text is about.
var stopWords = []string{
	"a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "before",
	"being", "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "done", "down", "each", "few", "for",
	"from", "further", "get", "gets", "got", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his",
	"how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like", "ll", "may", "me", "might", "more", "most",
	"much", "must", "my", "no", "nor", "not", "now", "of", "off", "ok", "okay", "on", "once", "one", "only", "or",
	"other", "our", "ours", "out", "over", "own", "please", "re", "s", "same", "shall", "she", "should", "so", "some",
	"such", "t", "than", "thanks", "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this",
	"those", "through", "to", "too", "under", "until", "up", "us", "ve", "very", "was", "we", "well", "were", "what",
	"when", "where", "which", "while", "who", "whom", "why", "will", "with", "would", "yes", "yet", "you", "your", "yours",
	// JSON
	"true", "false", "null",
}

// actionWords tell what can be done, or what is missing.
var actionWords = []string{
	"add", "allow", "apply", "ask", "call", "change", "check", "choose", "configure", "confirm", "create", "decide",
	"delete", "denied", "deploy", "disable", "edit", "enable", "expected", "fix", "forbidden", "increase", "install",
	"instead", "merge", "missing", "move", "must", "need", "needs", "next", "open", "permission", "reduce", "remind",
	"remove", "rename", "replace", "required", "requires", "restart", "retry", "review", "revert", "rollback", "run",
	"schedule", "send", "set", "should", "start", "stop", "timeout", "todo", "try", "undefined", "unauthorized", "unknown",
	"update", "upgrade", "use", "verify", "wait", "write",
}

// dullWords may matter to a goal, but are nobody's topic.
var dullWords = []string{
	"agree", "already", "always", "another", "anything", "around", "ask", "back", "because", "bit", "call", "check", "come",
	"course", "decide", "don", "else", "enough", "every", "everything", "fine", "find", "first", "give", "go", "going",
	"good", "great", "hello", "help", "hi", "keep", "kind", "know", "last", "later", "look", "lot", "made", "make", "many",
	"maybe", "mean", "move", "need", "never", "new", "next", "nothing", "number", "old", "open", "part", "put", "question",
	"answer", "quite", "really", "right", "said", "say", "see", "set", "show", "since", "something", "soon", "start", "still",
	"stop", "sure", "take", "tell", "thing", "think", "today", "tomorrow", "try", "two", "use", "want", "way", "without",
	"word", "work", "yesterday",
}
