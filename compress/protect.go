package compress

import (
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// The modes that protect something of their own. A session of any other mode has none.
const (
	ModeDeveloper = "developer"
	ModePlanning  = "planning"
	ModeAssistant = "assistant"
	ModeDebugger  = "debugger"
)

// Modes are all of them.
func Modes() []string {
	return []string{ModeDeveloper, ModePlanning, ModeAssistant, ModeDebugger}
}

// protections says which sentences a mode keeps word for word, by what they say in lower case. Lines
// are whole lines that are kept by how they begin: the frames of a stack trace, declarations. Declared
// only in fenced code, where the others do not count.
var protections = map[string]struct {
	sentences *phrases
	lines     []string
	code      []string
}{
	ModeDeveloper: {
		sentences: phrasesOf(
			"architecture", "design pattern", "tech stack", "technology stack", "api contract", "the contract", "endpoint", "endpoints",
			"data model", "schema", "foreign key", "primary key", "interface must", "must return", "status code", "backward compatible", "backwards compatible", "breaking change",
		),
		lines: []string{"get /", "post /", "put /", "patch /", "delete /"},
		code:  []string{"create table", "alter table", "interface ", "type ", "message ", "service ", "rpc ", "class ", "struct ", "export interface ", "export type "},
	},
	ModePlanning: {
		sentences: phrasesOf(
			"goal is", "goals are", "our goal", "objective", "requirement", "requirements", "required to", "must have", "must be", "must not", "must support",
			"constraint", "constraints", "deadline", "no later than", "at most", "at least", "budget", "out of scope", "in scope", "acceptance criteria", "milestone",
		),
	},
	ModeAssistant: {
		sentences: phrasesOf(
			"prefer", "prefers", "preferred", "preference", "i like", "i love", "i hate", "i dislike", "i don't like", "i always", "i never", "my favourite", "my favorite",
			"allergic", "please always", "please never", "call me", "i'd rather", "i usually", "i want you to",
		),
	},
	ModeDebugger: {
		sentences: phrasesOf(
			"error:", "exception", "panic:", "fatal:", "failed with", "fails with", "crash", "crashes", "segmentation fault", "stack trace", "traceback",
			"to reproduce", "steps to reproduce", "repro steps", "reproduce", "root cause", "expected", "exit code", "exit status", "timed out",
		),
		lines: []string{"at ", "goroutine ", "traceback ", "file \"", "caused by:", "panic:", "error:", "exception", "--- fail", "fatal error"},
		code:  []string{"at ", "goroutine ", "traceback ", "file \"", "caused by:", "panic:", "error:", "--- fail", "fatal error"},
	},
}

// Protected finds the sentences and lines of the turns that a mode keeps word for word, in order, each
// once. What the user says is always kept by the engine and found here only for what it is; tool
// output is searched in the debugger's mode alone.
func (s *Source) Protected(mode string) []Fact {
	f := finder{at: map[Fact]int{}}
	for i := range s.Turns {
		if t := &s.Turns[i]; counts(t) {
			f.seq = t.Seq
			f.protected(t, mode)
		}
	}
	return f.ordered()
}

// protected finds what the mode protects of a turn.
func (f *finder) protected(t *turn.Turn, mode string) {
	rules, ok := protections[mode]
	if !ok || t.Role == turn.System && mode != ModeDebugger {
		return
	}
	text := said(t)
	if mode == ModeDebugger {
		text = Wording(t)
	}
	f.protect(text, rules.sentences, rules.lines, rules.code)
}

// unescaped undoes, in the raw JSON of a result, what hides its lines.
var unescaped = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`)

func (f *finder) protect(text string, sentences *phrases, lines, code []string) {
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fenced = !fenced
			continue
		}
		begins := lines
		if fenced {
			begins = code
		}
		switch low := plain(bare(trimmed)); {
		case trimmed == "":
		case hasPrefix(low, begins), hasPrefix(plain(trimmed), begins):
			f.quote(trimmed)
			f.add(FactProtected, clipWords(trimmed, maxSentence))
		case !fenced && sentences.in(low):
			eachSentence(line, func(sentence string) {
				if sentences.in(plain(sentence)) {
					f.quote(sentence)
					f.add(FactProtected, clipWords(sentence, maxSentence))
				}
			})
		}
	}
}

func hasPrefix(low string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return false
}

func hasAny(low string, says []string) bool {
	for _, phrase := range says {
		if strings.Contains(low, phrase) {
			return true
		}
	}
	return false
}
