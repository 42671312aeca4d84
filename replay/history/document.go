package history

import (
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// document reads a list of messages, bare or in an object.
func (im *importer) document() error {
	if im.shape.first == '[' {
		if err := im.messages(); err != nil {
			return err
		}
		return im.in.finish()
	}
	read := false
	err := im.in.object(func(name string) error {
		if name == "messages" {
			if read {
				return im.in.broken("messages stands twice")
			}
			read = true
			return im.messages()
		}
		v, err := im.in.value()
		if err != nil {
			return err
		}
		return im.headerMember(name, v, read)
	})
	if err != nil {
		return err
	}
	if !read {
		return invalid.New("messages", "is missing", "give the list of messages")
	}
	return im.in.finish()
}

// headerMember reads what stands beside the messages.
func (im *importer) headerMember(name string, v strictjson.Raw, late bool) error {
	at := im.documentPlace()
	switch name {
	case "system":
		return im.system(v, late)
	case "model":
		im.got.Header.Model = im.headerText(name, v)
	case "user":
		im.got.Header.User = im.headerText(name, v)
	default:
		im.sink.report.otherOfDocument(at, name, v)
	}
	return nil
}

// headerText is a value beside the messages as text that can be kept. What is no text is reported.
func (im *importer) headerText(name string, v strictjson.Raw) string {
	at := im.documentPlace()
	text := im.sink.scalar(at, strictjson.Raw(im.sink.report.utf8(at, v)))
	if text == "" {
		im.sink.report.otherOfDocument(at, name, v)
	}
	return im.sink.clean(at, text)
}

// system reads the system prompt that stands beside the messages.
func (im *importer) system(v strictjson.Raw, late bool) error {
	at := im.documentPlace()
	m := &message{sink: &im.sink, place: at, role: "system", content: strictjson.Raw(im.sink.report.utf8(at, v))}
	if late {
		im.sink.report.lose("system prompts behind the messages", at, "kept at the end")
	}
	if err := m.parts(turn.System); err != nil || len(m.turns) == 0 {
		return err
	}
	if len(m.turns) > 1 {
		m.id = "system"
	}
	return m.handOut()
}

// documentPlace is where the value that was read last began.
func (im *importer) documentPlace() place { return place{unit: "line", number: im.in.began} }

// messages reads the list of messages that comes next.
func (im *importer) messages() error {
	number := int64(0)
	return im.in.array(func() error {
		number++
		at, v, err := im.in.element("message", number)
		if err != nil {
			return err
		}
		return im.sink.message(at, v)
	})
}

// element takes an element of a list, with its place.
func (in *input) element(unit string, number int64) (place, strictjson.Raw, error) {
	if _, err := in.peek(); err != nil {
		return place{}, "", err
	}
	at := place{unit: unit, number: number, line: in.line}
	v, err := in.value()
	return at, v, err
}
