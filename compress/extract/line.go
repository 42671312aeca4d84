package extract

// Kind is what a line is.
type Kind uint8

// The kinds of lines.
const (
	Talk   Kind = iota // somebody said it
	Call               // a tool's arguments, usually JSON
	Result             // what a tool returned: JSON or any text
)

// Line is one contribution to a conversation.
type Line struct {
	Seq     int64
	Speaker string // of talk
	// Time is the time as it is to be shown; it may be empty. Lines of the same Time that follow
	// each other share a header, so it had better be as coarse as its reader can bear.
	Time string
	Kind Kind
	Name string // of the tool
	// ID ties a result to its call. Where it is empty, a result belongs to the first call of its
	// tool that has none.
	ID   string
	Text string
	User bool // the user said it: kept rather than other talk, and clauses as a whole
}

// Options say how long a summary may be and what matters to its reader.
type Options struct {
	// Budget is the number of tokens that a summary never exceeds.
	Budget int
	// Count counts tokens. It must be deterministic. Defaults to the o200k vocabulary.
	Count func(text string) int
	// Focus is text whose words matter more: an active goal, open questions.
	Focus string
}

// Summary is what was kept of a conversation.
type Summary struct {
	// Text has one line per header and per run of kept units; it is empty or ends with a newline.
	Text string
	// Tokens is what Count says of Text.
	Tokens int
	// Seqs are the sequence numbers of the lines that are represented in Text, in their order.
	Seqs []int64
}
