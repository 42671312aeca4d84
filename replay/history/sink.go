package history

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// sink takes what readers found and hands out what a log accepts: it knows which calls are open.
type sink struct {
	options Options
	report  *Report
	take    func(Entry) error

	open []openCall // in the order in which they were made
	made int64      // ids that were made up
	last place
}

// openCall is a call that has no result yet. The id differs from the one it was given where that was
// taken or is no id.
type openCall struct {
	given, id, name string
	at              time.Time
}

// checkID stands in for the id that the caller gives: a draft cannot be checked without one.
const checkID = "00000000000000000000000000"

// maxOpen is how many calls may be open at once: each result is looked for among them.
const maxOpen = 10_000

// nameLimit is how long the log lets names and ids be.
const nameLimit = 256

// say hands out one turn that is no result.
func (s *sink) say(p place, d turn.Draft, at time.Time) error {
	s.last = p
	if c, ok := d.Content.(turn.Text); ok && len(c.ToolCalls) > 0 {
		if len(s.open)+len(c.ToolCalls) > maxOpen {
			return invalid.New(p.String(), fmt.Sprintf("more than %d calls have no result", maxOpen), "give the results, or leave out the calls")
		}
		d.Content = s.opened(p, c, at)
	}
	return s.emit(p, d, at)
}

// opened gives the calls of a text ids that no open call has.
func (s *sink) opened(p place, c turn.Text, at time.Time) turn.Text {
	c.ToolCalls = slices.Clone(c.ToolCalls)
	for i := range c.ToolCalls {
		call := &c.ToolCalls[i]
		given := call.ID
		call.ID = s.freeID(p, given)
		call.Name = s.named(p, call.Name)
		s.open = append(s.open, openCall{given: given, id: call.ID, name: call.Name, at: at})
	}
	return c
}

func (s *sink) freeID(p place, given string) string {
	id := s.short(p, given)
	if id == "" {
		s.report.lose("calls without an id", p, "given one")
	} else if s.taken(id) {
		s.report.lose("ids of calls that were still open", p, "numbered")
	}
	for base := id; id == "" || s.taken(id); {
		s.made++
		id = "call-" + strconv.FormatInt(s.made, 10)
		if base != "" && len(base) < nameLimit-24 {
			id = base + "~" + strconv.FormatInt(s.made, 10)
		}
	}
	return id
}

func (s *sink) taken(id string) bool {
	return slices.ContainsFunc(s.open, func(c openCall) bool { return c.id == id })
}

// named makes a name of a tool that the log can keep.
func (s *sink) named(p place, name string) string {
	if name = s.short(p, name); name != "" {
		return name
	}
	s.report.lose("tools without a name", p, `called "unnamed"`)
	return "unnamed"
}

// short keeps names and ids within what an index can hold. What is longer ends in its hash, so that
// different ones stay different.
func (s *sink) short(p place, name string) string {
	name = s.clean(p, name)
	if len(name) <= nameLimit {
		return name
	}
	s.report.lose("names and ids of more than "+strconv.Itoa(nameLimit)+" bytes", p, "shortened")
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:128], "") + "~" + hex.EncodeToString(sum[:16])
}

// clean replaces what no store can keep.
func (s *sink) clean(p place, text string) string {
	if strings.IndexByte(text, 0) < 0 {
		return text
	}
	s.report.lose("NUL characters", p, "replaced by U+FFFD")
	return strings.ReplaceAll(text, "\x00", "\ufffd")
}

// outcome is a tool result as a reader found it.
type outcome struct {
	id, name  string // either may be unknown
	status    turn.CallStatus
	result    string // raw JSON
	synthetic bool
	envelope  turn.Draft // what else the turn has
}

// result closes the call that the outcome is of. Without an id it is the first open call of the name,
// or the first one at all. The result of no call stays as a text.
func (s *sink) result(p place, o outcome, at time.Time) error {
	s.last = p
	i := slices.IndexFunc(s.open, func(c openCall) bool {
		if o.id != "" {
			return c.given == o.id
		}
		return o.name == "" || c.name == o.name
	})
	d := o.envelope
	if i < 0 {
		s.report.lose("results of no open call", p, "kept as a text of the system")
		d.Role, d.Content = turn.System, turn.Text{Text: orphan(o)}
		return s.emit(p, d, at)
	}
	call := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	if o.name != "" && o.name != call.name {
		s.report.lose("results under another name than their call", p, "given the name of the call")
	}
	if o.id == "" {
		s.report.lose("results without the id of their call", p, "given to the first open call")
	}
	d.Role = turn.System
	d.Content = turn.Result{Name: call.name, CallID: call.id, Status: o.status, Result: o.result, Synthetic: o.synthetic}
	return s.emit(p, d, at)
}

func orphan(o outcome) string {
	text := "[result of a call that is not in this conversation"
	if o.name != "" {
		text += ", " + o.name
	}
	if o.id != "" {
		text += ", " + o.id
	}
	return text + "] " + resultText(o.result)
}

// resultText is a result for formats whose results are text. A string that others cannot keep stays
// as it is written.
func resultText(raw string) string {
	if text, err := strictjson.Raw(raw).String(); err == nil && strings.IndexByte(text, 0) < 0 {
		return text
	}
	return raw
}

// cancelOpen closes the calls that can get no result any more.
func (s *sink) cancelOpen(p place) error {
	for _, call := range s.open {
		s.report.lose("calls without a result", p, "closed with a synthetic cancelled result")
		d := turn.Draft{Role: turn.System, Content: turn.Result{Name: call.name, CallID: call.id, Status: turn.CallCancelled, Synthetic: true}}
		if err := s.emit(p, d, call.at); err != nil {
			return err
		}
	}
	s.open = nil
	return nil
}

// finish is called after the last turn.
func (s *sink) finish() error { return s.cancelOpen(s.last) }

// emit checks a draft and hands it out.
func (s *sink) emit(p place, d turn.Draft, at time.Time) error {
	var err error
	if d.Content, err = s.fit(p, s.scrub(p, d.Content)); err != nil {
		return err
	}
	d.MessageID, d.Meta.Model = s.short(p, d.MessageID), s.short(p, d.Meta.Model)
	check := d
	if check.ID == "" {
		check.ID = checkID
	}
	if _, err := check.Seal(s.options.Limits); err != nil {
		return s.refused(p, err)
	}
	if err := s.take(Entry{Draft: d, At: at, Place: p.String()}); err != nil {
		return err
	}
	s.report.Turns++
	return nil
}

// refused says where the turn stands that the log would refuse.
func (s *sink) refused(p place, err error) error {
	var bad *invalid.Field
	if !errors.As(err, &bad) {
		return fmt.Errorf("%v: %w", p, err)
	}
	return invalid.New(p.String()+": "+bad.Name, bad.Problem, bad.Fix)
}

// scrub cleans the texts of the content.
func (s *sink) scrub(p place, c turn.Content) turn.Content {
	switch c := c.(type) {
	case turn.Text:
		c.Text, c.Thinking = s.clean(p, c.Text), s.clean(p, c.Thinking)
		return c
	case turn.Speech:
		c.Transcript = s.clean(p, c.Transcript)
		return c
	case turn.Image:
		c.Alt = s.clean(p, c.Alt)
		return c
	case turn.Action:
		c.Name, c.Target = s.short(p, c.Name), s.clean(p, c.Target)
		return c
	}
	return c
}
