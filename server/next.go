package server

import (
	"errors"
	"net/http"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/snapshot"
)

// next is what to do about a problem whose words begin with one, such as "turn" in "turn 77 of demo: not found". {session}
// stands for the path of the session that was asked about.
type next struct{ word, step string }

// lacking is where those are listed that there are, of each thing that may not be there.
var lacking = []next{
	{"session", "GET " + prefix + "/sessions lists those there are"},
	{"sessions", "GET " + prefix + "/sessions lists those there are"},
	{"turn", "GET {session}/turns lists those there are"},
	{"bookmark", "GET {session}/bookmarks lists those there are"},
	{"flow", "GET {session}/state has those there are"},
	{"goal", "GET {session}/goals lists those there are"},
	{"action", "GET {session}/actions lists those there are"},
	{"checkpoint", "GET {session}/checkpoints lists those there are"},
	{"snapshot", "GET {session}/snapshots lists those there are"},
	{"prompt", "GET {session}/prompts lists those there are"},
	{"memory", "GET " + prefix + "/memory lists what there is"},
	{"blob", "use the sha256 of a turn's content"},
	{"key", "GET " + prefix + "/keys lists those there are"},
	{"export", "GET " + prefix + "/exports lists those there are"},
	{"trace", "GET " + prefix + "/exports lists the exchanges of 7 days, and a trace of up to 90 is found by the turn that opened its exchange"},
}

// taken is what to do where something is there already, or is not as it would have to be.
var taken = []next{
	{"session", "use another id, or leave it out to have one made"},
	{"bookmark", "use another name"},
	{"turn", "use another turn_id, or leave it out to have one made"},
	{"append", "use another turn_id, or leave it out to have one made"}, // a turn whose id is that of another
	{"export", "use another export_id, or leave it out to have one made"},
}

// causes are what to do about errors whose words do not say what they are about.
var causes = []struct {
	err  error
	step string
}{
	{turnstone.ErrNothingToUndo, "GET {session}/checkpoints lists what stands for turns once they have"},
	{turnstone.ErrNothingToCompress, "go on talking, and it is compressed by itself when the window fills"},
	{event.ErrNotFound, "GET " + prefix + "/exports lists those there are"},
	{snapshot.ErrNotFound, "GET {session}/snapshots lists those there are"},
}

// stepped is what is wrong with what a path asked for, with what to do. Where that is told already, it stays as it is.
func stepped(told *Problem, path string, err error) string {
	steps, step := lacking, "use the id of one that is there"
	if told.Status == http.StatusConflict {
		steps, step = taken, "read what is there, and try again with that"
	}
	// Ids that a caller made up, which stand before, may hold anything.
	if strings.Contains(told.Detail[strings.LastIndex(told.Detail, ": ")+1:], "; ") {
		return told.Detail
	}
	// What is nearest to the end is what was looked for.
	for _, word := range beginnings(err) {
		for _, s := range steps {
			if s.word == word {
				step = s.step
			}
		}
	}
	for _, c := range causes {
		if errors.Is(err, c.err) {
			step = c.step
		}
	}
	session, in := sessionOf(path)
	if !in && strings.Contains(step, "{session}") {
		session = prefix + "/sessions/{session}"
	}
	return told.Detail + "; " + strings.ReplaceAll(step, "{session}", session)
}

// beginnings are the words that an error begins with, and each of those that it wraps, from the outside to the inside. What a
// caller made up stands behind them, whatever it looks like.
func beginnings(err error) (words []string) {
	for err != nil {
		word, _, _ := strings.Cut(err.Error(), " ")
		words = append(words, word)
		if all, ok := err.(interface{ Unwrap() []error }); ok {
			for _, inner := range all.Unwrap() {
				words = append(words, beginnings(inner)...)
			}
			return words
		}
		err = errors.Unwrap(err)
	}
	return words
}

// sessionOf is the path of the session that a path is about.
func sessionOf(path string) (session string, in bool) {
	rest, in := strings.CutPrefix(path, prefix+"/sessions/")
	id, _, _ := strings.Cut(rest, "/")
	return prefix + "/sessions/" + id, in && id != ""
}
