package memory

import (
	"fmt"
	"slices"
	"strings"
)

// Turn is what a finished exchange is summarised of. The name is the seed's: its turn summary covers
// one input, what was done about it and the reply.
type Turn struct {
	Seq    int64  // the exchange's last turn
	TurnID string // the input that opened it
	Input  string
	Reply  string
	Tools  []ToolRun
	Errors []string
	// Decisions that were recorded in a goal, besides those that are said in input and reply.
	Decisions []string
}

// ToolRun is a tool that was run; Error is empty where it went well.
type ToolRun struct {
	Name  string
	Error string
}

// Summary is a turn summary: the key points of an exchange in one line, what it was about and what was
// decided. Its text is what the log keeps of it; [ParseSummary] reads it back.
type Summary struct {
	Line    string   // at most 400 bytes, never empty
	Topics  []string // at most 6, most important first
	Decided []string // at most 8
}

// Bounds of a summary's parts, in bytes where they are texts.
const (
	maxLine          = 400
	maxDecision      = 160
	maxTurnDecisions = 8
)

const (
	topicsPrefix  = "Topics: "
	decidedPrefix = "Decided: "
	emptyLine     = "Nothing was said."
)

// summarise is [Manager.Turn].
func summarise(t Turn) Summary {
	var room [8]string
	line := room[:0]
	if said := opening(t.Input, 140); said != "" {
		line = append(line, "User: ", said, " ")
	}
	if said := opening(t.Reply, 140); said != "" {
		line = append(line, "Agent: ", said, " ")
	}
	if outcome := clipped(outcomes(t), 110); outcome != "" {
		line = append(line, outcome)
	} else if len(line) > 0 {
		line = line[:len(line)-1] // a space
	}
	s := Summary{Line: strings.Join(line, ""), Topics: topicsOf(t.Input, t.Reply)}
	s.decide(t.Decisions...)
	s.decide(decisions(t.Input, 3)...)
	s.decide(decisions(t.Reply, 3)...)
	return s.bounded()
}

// outcomes says what was done and what failed.
func outcomes(t Turn) string {
	var rooms [3][4]string // for all that there are, mostly
	ran, failed, parts := rooms[0][:0], rooms[1][:0], rooms[2][:0]
	for _, tool := range t.Tools {
		name := clipped(oneLine(tool.Name), 40)
		if tool.Error != "" {
			failed = append(failed, name+": "+opening(tool.Error, 80))
		} else if !slices.Contains(ran, name) {
			ran = append(ran, name)
		}
	}
	for _, problem := range t.Errors {
		failed = append(failed, opening(problem, 80))
	}
	if len(failed) > 0 {
		part := "Failed: " + failed[0]
		if more := len(failed) - 1; more > 0 {
			part += fmt.Sprintf(" (and %d more)", more)
		}
		parts = append(parts, part)
	}
	if len(ran) > 0 {
		parts = append(parts, "Ran: "+strings.Join(ran, ", "))
	}
	return strings.Join(parts, " ")
}

// decide adds decisions that are not there yet, on one line each.
func (s *Summary) decide(texts ...string) {
	for _, text := range texts {
		text = clipped(oneLine(firstBytes(text, proseBytes)), maxDecision)
		if text != "" && len(s.Decided) < maxTurnDecisions && !slices.Contains(s.Decided, text) {
			s.Decided = append(s.Decided, text)
		}
	}
}

// Says reports whether text has the words of a decision, as a summary has them: on one line, and perhaps cut short.
func Says(text, decided string) bool {
	return strings.Contains(oneLine(text), strings.TrimSuffix(decided, "…"))
}

// bounded brings the line within its bounds, so that it reads back as it is.
func (s Summary) bounded() Summary {
	if s.Line = clipped(oneLine(s.Line), maxLine); s.Line == "" {
		s.Line = emptyLine
	}
	return s
}

// String returns the summary's text: its line, then the topics on one, then each decision on one.
func (s Summary) String() string {
	text := s.Line
	if len(s.Topics) > 0 {
		text += "\n" + topicsPrefix + strings.Join(s.Topics, ", ")
	}
	for _, decided := range s.Decided {
		text += "\n" + decidedPrefix + decided
	}
	return text
}

// ParseSummary reads a summary's text. It refuses nothing: what others wrote as a summary is its line,
// as far as it fits, and lines that start with "Topics: " or "Decided: " after the first are what
// they say.
func ParseSummary(text string) Summary {
	var s Summary
	first, rest, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	line := []string{first}
	for next := range strings.SplitSeq(rest, "\n") {
		if topics, ok := strings.CutPrefix(next, topicsPrefix); ok {
			s.addTopics(topics)
		} else if decided, ok := strings.CutPrefix(next, decidedPrefix); ok {
			s.decide(decided)
		} else if next != "" {
			line = append(line, next)
		}
	}
	s.Line = strings.Join(line, " ")
	return s.bounded()
}

func (s *Summary) addTopics(topics string) {
	for topic := range strings.SplitSeq(topics, ",") {
		topic = oneLine(topic)
		if topic != "" && len(topic) <= maxTopic && len(s.Topics) < maxTurnTopics && !slices.Contains(s.Topics, topic) {
			s.Topics = append(s.Topics, topic)
		}
	}
}
