package replay

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// turn checks the next turn: its place, its content, its blob and its unit.
func (c *checker) turn(t *turn.Turn) error {
	if t.Seq != c.seq+1 {
		return fmt.Errorf("turn %d stands where %d must", t.Seq, c.seq+1)
	}
	if t.Seq > c.head {
		return fmt.Errorf("turn %d, and the session has %d", t.Seq, c.head)
	}
	c.seq = t.Seq
	if t.Kind != turn.KindTurn && len(c.summaries) < c.bounds.summaries {
		c.summaries[t.Seq] = struct{}{}
	}
	err := c.turnAlone(t)
	if err == nil {
		err = c.turnBlob(t)
	}
	if err == nil {
		err = c.calls.join(t, c.bounds.openCalls)
	}
	if err == nil {
		err = c.unique(t)
	}
	if err != nil {
		return fmt.Errorf("turn %d: %w", t.Seq, err)
	}
	return nil
}

// turnAlone checks what needs no other record.
func (c *checker) turnAlone(t *turn.Turn) error {
	if c.trusted {
		return nil
	}
	switch {
	case t.Session != "":
		return errors.New("session_id: a turn of a bundle has none")
	case t.Kind == "":
		return errors.New(`kind: "" is not a kind`)
	case t.CreatedAt.IsZero():
		return missing("created_at")
	case t.Kind == turn.KindSummary && t.Covers.To >= t.Seq:
		return fmt.Errorf("covers: %d–%d goes past turn %d", t.Covers.From, t.Covers.To, t.Seq-1)
	}
	if b, ok := turn.BlobOf(t.Content); ok && b.Data != nil {
		return errors.New("content: holds data, which stands in a record of its own")
	}
	if t.Gone() {
		return t.CheckTombstone()
	}
	d := turn.Draft{
		ID: t.ID, Role: t.Role, Kind: t.Kind, Content: t.Content, Covers: t.Covers,
		MessageID: t.MessageID, IdempotencyKey: t.IdempotencyKey, Meta: t.Meta,
	}
	_, err := d.Seal(c.limits)
	if err == nil {
		return nil
	}
	if _, wrong := d.Seal(noLimits); wrong == nil {
		return &overLimit{err}
	}
	return err
}

func (c *checker) turnBlob(t *turn.Turn) error {
	b, ok := turn.BlobOf(t.Content)
	if c.wanted != "" && b.SHA256 != c.wanted {
		return fmt.Errorf("blob %s stands before a turn that does not refer to it", c.wanted)
	}
	c.wanted = ""
	if !ok {
		return nil
	}
	size, there := c.blobs[b.SHA256]
	if !there {
		return fmt.Errorf("content.sha256: no blob %q stands before the turn", b.SHA256)
	}
	if size != b.Size {
		return fmt.Errorf("content.size: blob %s has %d bytes, not %d", b.SHA256, size, b.Size)
	}
	return nil
}

// unique finds a turn id or idempotency key that stands twice. It remembers a bounded number of
// them; what comes later is left to the keys of the store that the bundle is imported into.
func (c *checker) unique(t *turn.Turn) error {
	if c.names == nil {
		return nil
	}
	if !c.remember('i', t.ID) {
		return fmt.Errorf("turn_id: %s stands twice", t.ID)
	}
	if t.IdempotencyKey != "" && !c.remember('k', t.IdempotencyKey) {
		return fmt.Errorf("idempotency_key: %q stands twice", t.IdempotencyKey)
	}
	return nil
}

// holds reports whether the bundle has the turn, as far as that is remembered.
func (c *checker) holds(turnID string) bool {
	if c.names == nil || len(c.names) >= c.bounds.names {
		return true
	}
	_, there := c.names[nameOf('i', turnID)]
	return there
}

// remember reports whether the text was not seen before as a name of that kind.
func (c *checker) remember(kind byte, text string) bool {
	n := nameOf(kind, text)
	if _, twice := c.names[n]; twice {
		return false
	}
	if len(c.names) < c.bounds.names {
		c.names[n] = struct{}{}
	}
	return true
}

func nameOf(kind byte, text string) name {
	var buf [512]byte
	sum := sha256.Sum256(append(append(buf[:0], kind), text...))
	return name(sum[:len(name{})])
}

// calls follows the units of a log: the tool calls that wait for a result.
type calls struct {
	open map[string]openCall
	made int64
}

type openCall struct {
	turn.OpenCall
	position int64
}

// join takes the turn's calls and result, and holds its Unit against what it must be. At most so
// many calls may wait.
func (c *calls) join(t *turn.Turn, most int) error {
	var unit int64
	if t.Gone() {
		return c.joinTombstone(t)
	}
	switch content := t.Content.(type) {
	case turn.Text:
		for i, call := range content.ToolCalls {
			unit = t.Seq
			if _, there := c.open[call.ID]; there {
				return fmt.Errorf("content.tool_calls[%d].id: call %q is still open", i, call.ID)
			}
			if len(c.open) == most {
				return fmt.Errorf("content.tool_calls: more than %d calls wait for a result", most)
			}
			// Cloned: both are pieces of the line, which would stay with them.
			id := strings.Clone(call.ID)
			c.open[id] = openCall{turn.OpenCall{ID: id, Name: strings.Clone(call.Name), Unit: t.Seq}, c.made}
			c.made++
		}
	case turn.Result:
		call, there := c.open[content.CallID]
		if !there {
			return fmt.Errorf("content.call_id: no call %q is open", content.CallID)
		}
		if call.Name != content.Name {
			return fmt.Errorf("content.name: call %q is to %q, not %q", content.CallID, call.Name, content.Name)
		}
		delete(c.open, content.CallID)
		unit = call.Unit
	}
	if t.Unit != unit {
		return fmt.Errorf("unit: is %d, must be %d", t.Unit, unit)
	}
	return nil
}

// joinTombstone holds the Unit of a forgotten turn against what it may be: its own, of a call, or that of an earlier call
// that was forgotten with it.
func (c *calls) joinTombstone(t *turn.Turn) error {
	if t.Unit < 0 || t.Unit > t.Seq || t.Unit == t.Seq && t.Role != turn.Agent {
		return fmt.Errorf("unit: %d is no unit of a forgotten turn", t.Unit)
	}
	return nil
}

// waiting lists the open calls in the order they were made.
func (c *calls) waiting() []turn.OpenCall {
	list := make([]openCall, 0, len(c.open))
	for _, call := range c.open {
		list = append(list, call)
	}
	slices.SortFunc(list, func(a, b openCall) int { return cmp.Compare(a.position, b.position) })
	waiting := make([]turn.OpenCall, len(list))
	for i, call := range list {
		waiting[i] = call.OpenCall
	}
	return waiting
}
