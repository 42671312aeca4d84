package compress

import (
	"strings"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/turn"
)

// FactKind is what a fact is about.
type FactKind string

// The kinds of facts, most important first.
const (
	FactDecision  FactKind = "decision"  // something that was decided
	FactProtected FactKind = "protected" // a sentence that the session's mode keeps word for word
	FactRequest   FactKind = "request"   // something that was asked for and not done or answered
	FactFile      FactKind = "file"      // a file that was made, changed or deleted
	FactNext      FactKind = "next"      // what is to be done next
)

// Quoted reports whether facts of the kind may not be rewritten: they are what [Source.Quotes] finds.
func (k FactKind) Quoted() bool { return k == FactDecision || k == FactProtected }

// Fact is something in the turns that a summary of them must tell.
type Fact struct {
	Kind FactKind
	// Text is a part of the turn, white space squeezed: a sentence, a path.
	Text string
	// Seq is the last turn that says it.
	Seq int64
}

// maxSentence is how many bytes of a sentence are a fact.
const maxSentence = 400

// signs tell what a sentence is from what it says. A question is never a decision.
var signs = []struct {
	kind FactKind
	says *phrases
}{
	{FactDecision, phrasesOf(
		"we decided", "i decided", "i've decided", "we've decided", "decided to", "decided on", "decided against", "decision:", "it was decided",
		"we agreed", "agreed to", "agreed on", "we'll go with", "i'll go with", "let's go with", "we will go with", "going with",
		"we'll use", "we will use", "let's use", "we chose", "i chose", "we settled on", "settled on", "the plan is", "final choice", "we are using",
		"from now on", "we won't", "we will not", "instead of using", "approved:", "rejected:",
	)},
	{FactRequest, phrasesOf(
		"todo:", "to do:", "fixme:", "still need to", "still needs to", "still have to", "remains to be", "not done yet", "not yet done",
		"waiting for", "waiting on", "blocked by", "blocked on", "open question", "open questions", "remind me", "don't forget", "do not forget",
		"remaining work", "remaining steps", "unresolved", "follow up on",
	)},
	{FactNext, phrasesOf("next step", "next steps", "next, i'll", "next i'll", "next, we", "next we")},
}

// Facts finds what a summary of the turns must tell, in the order of the log: what markers say, what
// tools did to files, what sentences say by their phrases, and what was asked last and not answered.
// Each is there once. The same turns give the same facts.
func (s *Source) Facts() []Fact {
	f := finder{at: map[Fact]int{}}
	failed := s.failed()
	for i := range s.Turns {
		t := &s.Turns[i]
		if !counts(t) {
			continue
		}
		f.seq = t.Seq
		f.sentences(t)
		if t.Role == turn.Agent {
			f.markers(said(t))
		}
		for _, call := range t.Calls() {
			if !failed[call.ID] {
				f.call(call)
			}
		}
	}
	f.open(s.Turns)
	return f.ordered()
}

// failed are the ids of the calls that did not do what they were asked.
func (s *Source) failed() map[string]bool {
	failed := map[string]bool{}
	for i := range s.Turns {
		if r, ok := s.Turns[i].Content.(turn.Result); ok && r.Status != turn.CallOK {
			failed[r.CallID] = true
		}
	}
	return failed
}

// finder collects facts, the newest place of each.
type finder struct {
	seq   int64
	facts []Fact
	at    map[Fact]int
	// wording is the text of the turn, and quotes what was found in it that is never rewritten; see [Quote].
	wording string
	quotes  []Quote
}

func (f *finder) add(kind FactKind, text string) {
	// Tools return NUL where they read what is no text. A summary that holds it cannot be stored.
	text = squeeze(strings.ReplaceAll(text, "\x00", " "))
	if text == "" {
		return
	}
	key := Fact{Kind: kind, Text: text}
	if i, ok := f.at[key]; ok {
		f.facts[i].Seq = 0
	}
	f.at[key] = len(f.facts)
	f.facts = append(f.facts, Fact{kind, text, f.seq})
}

// ordered leaves out what was said again later.
func (f *finder) ordered() []Fact {
	var kept []Fact
	for _, fact := range f.facts {
		if fact.Seq != 0 {
			kept = append(kept, fact)
		}
	}
	return kept
}

func (f *finder) markers(text string) {
	for _, m := range cortex.ParseMarkers(text) {
		switch m.Kind {
		case cortex.MarkDecision:
			f.quote(m.Text)
			f.add(FactDecision, m.Text)
		case cortex.MarkArtifact:
			f.add(FactFile, m.Text)
		case cortex.MarkNext:
			f.add(FactNext, m.Text)
		}
	}
}

func (f *finder) sentences(t *turn.Turn) {
	if t.Role == turn.System {
		return
	}
	eachProse(said(t), func(line string) {
		if marker(line) {
			return
		}
		if !promising(plain(line)) {
			return
		}
		eachSentence(line, func(sentence string) {
			if kind, ok := kindOf(sentence); ok {
				if kind == FactDecision {
					f.quote(bare(sentence))
				}
				f.add(kind, clipWords(bare(sentence), maxSentence))
			}
		})
	})
}

func marker(line string) bool {
	return strings.Contains(line, "[") && len(cortex.ParseMarkers(line)) > 0
}

// promising reports whether a line in lower case has any of the phrases. Most have none, and need not
// be cut into sentences.
func promising(low string) bool {
	for _, s := range signs {
		if s.says.in(low) {
			return true
		}
	}
	return false
}

// kindOf tells what a sentence is from its phrases.
func kindOf(sentence string) (FactKind, bool) {
	low := plain(sentence)
	for _, s := range signs {
		if s.kind == FactDecision && strings.HasSuffix(low, "?") {
			continue
		}
		if s.says.in(low) {
			return s.kind, true
		}
	}
	return "", false
}

// open adds what was asked last and not answered: by the user, or by the agent.
func (f *finder) open(turns []turn.Turn) {
	for i := len(turns) - 1; i >= 0; i-- {
		t := &turns[i]
		text := said(t)
		if !counts(t) || t.Role == turn.System || strings.TrimSpace(text) == "" {
			continue
		}
		f.seq = t.Seq
		if t.Role == turn.User {
			f.add(FactRequest, clipWords(squeeze(text), maxSentence))
			return
		}
		last := ""
		eachSentence(text, func(sentence string) { last = sentence })
		if strings.HasSuffix(last, "?") || strings.HasSuffix(last, "？") {
			f.add(FactRequest, clipWords(bare(last), maxSentence))
		}
		return
	}
}
