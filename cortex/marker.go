package cortex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is parsed from one text. What lies beyond them is left alone.
const (
	MaxMarkers = 64
	// MaxMarker is how many bytes a marker's line may have.
	MaxMarker = MaxLine
)

// MarkerKind is what a marker is about.
type MarkerKind string

// The kinds of markers, as they stand in brackets.
const (
	MarkGoal      MarkerKind = "GOAL"
	MarkMilestone MarkerKind = "CHECKPOINT"
	MarkDecision  MarkerKind = "DECISION"
	MarkArtifact  MarkerKind = "ARTIFACT"
	MarkNext      MarkerKind = "NEXT"
)

// The words that a decision's marker may end with.
const (
	statusLocked   = "locked"
	statusUnlocked = "unlocked"
)

// Marker is one line of a reply that says something about the active goal:
//
//	[GOAL] Implement user authentication
//	[CHECKPOINT] Add token generation - IN PROGRESS
//	[DECISION] Use JWT - LOCKED
//	[ARTIFACT] Created src/auth/login.ts
//	[NEXT] Complete token generation
type Marker struct {
	Kind MarkerKind
	// Text is the title, description, path or step, a part of the parsed text.
	Text string
	// Status is what the marker says about it: a [GoalStatus], a [MilestoneStatus], an
	// [ArtifactAction], "locked" or "unlocked"; empty where it says nothing.
	Status string
	// Line is the whole marker as it was written, from its bracket on, and Offset where it begins.
	Line   string
	Offset int
	// TurnID is the turn that it stands in, where whoever parsed it says so.
	TurnID string
}

// markerKinds is every marker with the words it knows.
var markerKinds = []struct {
	kind  MarkerKind
	words []string
	// needsWord: without a word it is no marker.
	needsWord bool
}{
	{kind: MarkGoal, words: statuses[string](goalMachine)},
	{kind: MarkMilestone, words: plainWords(milestoneStatuses)},
	{kind: MarkDecision, words: []string{statusLocked, statusUnlocked}},
	{kind: MarkArtifact, words: plainWords(artifactActions), needsWord: true},
	{kind: MarkNext},
}

// ParseMarkers finds the markers in a reply, in order. A marker begins a line, indented by at most
// three spaces and perhaps as the item of a list, and ends with it. Its status stands behind a dash
// with spaces around it, an artifact's may also stand before the path; in any case, with spaces,
// hyphens or underscores between its words. A dash with anything else behind it is part of the text.
// What stands in fenced code, what is no marker, and what goes beyond [MaxMarkers] or [MaxMarker]
// is left alone.
func ParseMarkers(text string) []Marker {
	if strings.IndexByte(text, '[') < 0 {
		return nil // as most replies
	}
	var markers []Marker
	var open fence
	for offset := 0; offset < len(text) && len(markers) < MaxMarkers; {
		line := text[offset:]
		next := len(text)
		if end := strings.IndexByte(line, '\n'); end >= 0 {
			line, next = line[:end], offset+end+1
		}
		if !open.pass(line) {
			if m, ok := parseMarker(line); ok {
				m.Offset += offset
				markers = append(markers, m)
			}
		}
		offset = next
	}
	return markers
}

// parseMarker reads one line. The offset is that of the bracket within it.
func parseMarker(line string) (Marker, bool) {
	rest, _, ok := item(line)
	if !ok || len(rest) > MaxMarker || rest == "" || rest[0] != '[' {
		return Marker{}, false
	}
	m := Marker{Line: strings.TrimRight(rest, " \t\r"), Offset: len(line) - len(rest)}
	if !utf8.ValidString(m.Line) || strings.ContainsFunc(m.Line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
		return Marker{}, false
	}
	name, body, ok := strings.Cut(m.Line[1:], "]")
	if !ok || body == "" || !strings.ContainsRune(" \t:", rune(body[0])) {
		return Marker{}, false
	}
	body = strings.Trim(strings.TrimPrefix(body, ":"), " \t")
	for _, k := range markerKinds {
		if name != string(k.kind) {
			continue
		}
		m.Kind = k.kind
		m.Text, m.Status = splitStatus(body, k.words)
		if k.kind == MarkArtifact {
			if m.Status == "" {
				m.Text, m.Status = leadingStatus(body, k.words)
			}
			m.Text = strings.Trim(m.Text, "` \t")
		}
		// A tab inside is no control character to the reader of a reply, but no store takes it on a line.
		ok := strings.TrimSpace(m.Text) != "" && !strings.Contains(m.Text, "\t") && (m.Status != "" || !k.needsWord)
		return m, ok
	}
	return Marker{}, false
}

// splitStatus takes a status off the end of a text, if one of the words stands there behind a dash.
func splitStatus(text string, words []string) (rest, status string) {
	for i := len(text); i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
		if r != '-' && r != '–' && r != '—' {
			continue
		}
		before, after := text[:i], text[i+size:]
		if before != "" && !strings.HasSuffix(before, " ") || !strings.HasPrefix(after, " ") {
			continue
		}
		if word := oneWord(strings.TrimRight(after, "."), words); word != "" {
			return strings.TrimRight(before, " \t"), word
		}
		return text, ""
	}
	return text, ""
}

// leadingStatus takes a status off the front of a text, with or without a colon behind it.
func leadingStatus(text string, words []string) (rest, status string) {
	first, rest, ok := strings.Cut(text, " ")
	if word := oneWord(strings.TrimSuffix(first, ":"), words); ok && word != "" {
		return strings.TrimLeft(rest, " \t"), word
	}
	return text, ""
}

// oneWord returns which of the words was written, whatever its case and what separates its parts.
func oneWord(written string, words []string) string {
	for _, w := range words {
		if sameWords(separators.Replace(written), separators.Replace(w)) {
			return w
		}
	}
	return ""
}

var separators = strings.NewReplacer("-", " ", "_", " ")

// sameWords reports whether two texts differ in nothing but case and white space.
func sameWords(a, b string) bool {
	for {
		var one, other string
		one, a = nextWord(a)
		other, b = nextWord(b)
		if one == "" || !strings.EqualFold(one, other) {
			return one == other
		}
	}
}

// nextWord cuts the first word off a text; it is empty where there is none.
func nextWord(text string) (word, rest string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

func plainWords[S ~string](words []S) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}
