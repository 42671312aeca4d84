package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// sessionReader reads a session document.
type sessionReader struct {
	*importer
	own      own
	ours     bool     // the members that are ours are there
	read     []string // the lists that were
	messages []held   // of a document that is not ours, or does not say so first
	calls    []held
	bytes    int // held
}

// held is a message or a call until its place is known.
type held struct {
	place place
	raw   strictjson.Raw
	at    time.Time
}

func (im *importer) session(ctx context.Context) error {
	r := &sessionReader{importer: im, own: own{sink: &im.sink}, ours: im.shape.ours()}
	if err := im.in.object(func(name string) error { return r.member(ctx, name) }); err != nil {
		return err
	}
	if err := im.in.finish(); err != nil {
		return err
	}
	if r.ours {
		return r.heldMessages(ctx)
	}
	return r.merge()
}

func (r *sessionReader) member(ctx context.Context, name string) error {
	switch name {
	case "messages":
		return r.list(name, "message", func(at place, v strictjson.Raw) error {
			if r.ours && len(r.messages) == 0 {
				return r.message(ctx, at, v)
			}
			return r.hold(&r.messages, at, v)
		})
	case "toolCalls":
		return r.list(name, "tool call", func(at place, v strictjson.Raw) error {
			if r.ours {
				return nil
			}
			return r.hold(&r.calls, at, v)
		})
	}
	v, err := r.in.value()
	if err != nil {
		return err
	}
	h, at := &r.got.Header, r.documentPlace()
	switch name {
	case "sessionId":
		h.Session = r.headerText(name, v)
	case "startTime":
		r.said.Started = r.sink.at(at, v)
	case "lastActivity":
		r.said.LastActivity = r.sink.at(at, v)
	case "model":
		h.Model = r.headerText(name, v)
	case "provider":
		h.Provider = r.headerText(name, v)
	case "title":
		h.Title = r.headerText(name, v)
	case "user":
		h.User = r.headerText(name, v)
	case "metadata":
		return r.metadata(at, v)
	case "turnstone":
		if n, err := v.Int(); err != nil || n != documentVersion {
			return invalid.New("turnstone", fmt.Sprintf("%.20s is no version that can be read", string(v)), fmt.Sprintf("give version %d", documentVersion))
		}
		r.ours = true
	default:
		r.sink.report.otherOfDocument(at, name, v)
	}
	return nil
}

func (r *sessionReader) list(name, unit string, f func(place, strictjson.Raw) error) error {
	if slices.Contains(r.read, name) {
		return r.in.broken(name + " stands twice")
	}
	r.read = append(r.read, name)
	number := int64(0)
	return r.in.array(func() error {
		number++
		at, v, err := r.in.element(unit, number)
		if err != nil {
			return err
		}
		return f(at, v)
	})
}

func (r *sessionReader) metadata(at place, v strictjson.Raw) error {
	return r.sink.report.decode(at, v, func(name string, v strictjson.Raw) error {
		n, err := v.Int()
		switch {
		case err == nil && n >= 0 && name == "tokenCount":
			r.got.Header.Tokens = n
		case err == nil && n >= 0 && n <= 1<<31-1 && name == "compressionCount":
			r.got.Header.Compressions = int(n)
		default:
			r.sink.report.otherOfDocument(at, name, v)
		}
		return nil
	})
}

// message reads a message that is ours.
func (r *sessionReader) message(ctx context.Context, at place, raw strictjson.Raw) error {
	var role, text string
	var parts, envelope strictjson.Raw
	var rest []named
	t := turn.Turn{Kind: turn.KindTurn, Form: turn.FormText}
	err := strictjson.Object(string(raw), func(name string, v strictjson.Raw) (err error) {
		switch name {
		case "role":
			role, err = v.String()
		case "parts":
			parts = v
		case "timestamp":
			t.CreatedAt = r.sink.at(at, v)
		case "turnstone":
			envelope = v
		default:
			rest = append(rest, named{name, v})
		}
		return err
	})
	if err != nil {
		return invalid.New(at.String(), err.Error(), "correct the JSON; nothing was imported")
	}
	if envelope == "" {
		return r.sink.message(at, raw)
	}
	for _, n := range rest {
		r.sink.other(at, n.name, n.value)
	}
	switch role {
	case "assistant":
		t.Role = turn.Agent
	case "tool":
		t.Role = turn.System
	default:
		t.Role = turn.Role(role)
	}
	content, err := decodeEnvelope(envelope, &t)
	if err == nil && content == "" {
		if text, err = onlyText(parts); err == nil {
			t.Content = turn.Text{Text: text}
		}
	} else if err == nil {
		t.Content, err = turn.DecodeContent(t.Role, t.Form, string(content))
	}
	if err != nil {
		return r.sink.refused(at, err)
	}
	return r.own.turn(ctx, at, t)
}

// onlyText is the text of a message whose content is that text alone.
func onlyText(parts strictjson.Raw) (text string, err error) {
	count := 0
	err = parts.Array(func(v strictjson.Raw) error {
		count++
		return v.Object(func(name string, v strictjson.Raw) (err error) {
			if name == "text" {
				text, err = v.String()
			}
			return err
		})
	})
	if err == nil && count != 1 {
		err = fmt.Errorf("%d parts where the content is one text", count)
	}
	if err != nil {
		return "", invalid.New("parts", err.Error(), "give one part with the text")
	}
	return text, nil
}

// decodeEnvelope reads what a message of ours says of its turn, and returns the content if it is there.
func decodeEnvelope(raw strictjson.Raw, t *turn.Turn) (content strictjson.Raw, err error) {
	err = raw.Object(func(name string, v strictjson.Raw) error {
		if name == "content" {
			content = v
			return nil
		}
		err := envelopeMember(name, v, t)
		if err != nil {
			return invalid.New("turnstone."+name, err.Error(), "correct the value")
		}
		return nil
	})
	return content, err
}

func envelopeMember(name string, v strictjson.Raw, t *turn.Turn) (err error) {
	var s string
	switch name {
	case "turn_id":
		t.ID, err = v.String()
	case "seq":
		t.Seq, err = v.Int()
	case "form":
		s, err = v.String()
		t.Form = turn.Form(s)
	case "kind":
		s, err = v.String()
		t.Kind = turn.Kind(s)
	case "message_id":
		t.MessageID, err = v.String()
	case "idempotency_key":
		t.IdempotencyKey, err = v.String()
	case "covers":
		var ends []int64
		err = v.Array(func(v strictjson.Raw) error {
			n, err := v.Int()
			ends = append(ends, n)
			return err
		})
		if err == nil && len(ends) != 2 {
			err = fmt.Errorf("%d numbers, not two", len(ends))
		}
		if err == nil {
			t.Covers = turn.Range{From: ends[0], To: ends[1]}
		}
	case "meta":
		t.Meta, err = turn.DecodeMeta(string(v))
	default:
		err = fmt.Errorf("is no member of version %d", documentVersion)
	}
	return err
}
