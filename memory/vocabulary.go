package memory

import "math/bits"

// vocabulary is a set of words that are known to be of some kind, by their hash: open addressing, never
// more than half full. It is asked for every word that is looked at, so that one look answers all
// questions: the kinds stand in bits of the hash.
type vocabulary []uint64

// The kinds of words.
const (
	stopWord   = 1 << 60
	actionWord = 1 << 61
	dullWord   = 1 << 62
	anyKind    = stopWord | actionWord | dullWord
)

var knownWords = newVocabulary()

func newVocabulary() vocabulary {
	v := make(vocabulary, 1<<bits.Len(uint(2*(len(stopWords)+len(actionWords)+len(dullWords)))))
	v.add(stopWord, stopWords)
	v.add(actionWord, actionWords)
	v.add(dullWord, dullWords)
	return v
}

func (v vocabulary) add(kind uint64, words []string) {
	for _, word := range words {
		h := hashWord(stemmed([]byte(word)))
		v[v.slot(h)] |= h&^anyKind | kind
	}
}

// slot returns where h is, or the empty place where it belongs.
func (v vocabulary) slot(h uint64) int {
	i := int(h) & (len(v) - 1)
	for v[i] != 0 && (v[i]^h)&^anyKind != 0 {
		i = (i + 1) & (len(v) - 1)
	}
	return i
}

// kinds returns what is known of a word.
func (v vocabulary) kinds(h uint64) uint64 { return v[v.slot(h)] & anyKind }

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
