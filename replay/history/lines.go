package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// lines reads one turn, message or saying of a speaker a line.
func (im *importer) lines(ctx context.Context) error {
	own := &own{sink: &im.sink}
	var speakers speakers
	for {
		text, at, err := im.in.nextLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := im.line(ctx, at, text, own, &speakers); err != nil {
			return err
		}
	}
	if speakers.sessions > 1 {
		im.sink.report.lose("sessions that a conversation is divided into", nil, "joined")
	} else if speakers.session != "" {
		im.got.Header.Session = speakers.session
	}
	return nil
}

// line tells by its members what a line is.
func (im *importer) line(ctx context.Context, at place, text string, own *own, speakers *speakers) error {
	var turns, spoken, message bool
	text = im.sink.report.utf8(at, strictjson.Raw(text))
	err := im.sink.report.decode(at, strictjson.Raw(text), func(name string, _ strictjson.Raw) error {
		turns = turns || name == "turn_id"
		spoken = spoken || name == "speaker"
		message = message || name == "role"
		return nil
	})
	switch {
	case err != nil:
		return err
	case turns:
		t, err := turn.DecodeTurn(text)
		if err != nil {
			return im.sink.refused(at, err)
		}
		if h := &im.got.Header; h.Session == "" {
			h.Session = t.Session
		} else if t.Session != "" && t.Session != h.Session {
			return invalid.New(at.String()+": session_id", fmt.Sprintf("is %.130q, the turns before are of %.130q", t.Session, h.Session), "import one session at a time")
		}
		return own.turn(ctx, at, t)
	case spoken:
		return speakers.say(&im.sink, at, text)
	case message:
		return im.sink.message(at, strictjson.Raw(text))
	}
	return invalid.New(at.String(), "holds neither turn_id, speaker nor role", "give a turn, a saying or a message a line")
}

// speakers maps two names to roles.
type speakers struct {
	names    [2]string
	session  string
	sessions int
}

func (s *speakers) say(sink *sink, at place, line string) error {
	var said, name, id, session string
	var when strictjson.Raw
	err := sink.report.decode(at, strictjson.Raw(line), func(member string, v strictjson.Raw) (err error) {
		switch member {
		case "speaker":
			name, err = sink.text(at, v)
		case "text":
			said, err = sink.text(at, v)
		case "id":
			id = sink.word(at, member, v)
		case "session":
			session = sink.clean(at, sink.word(at, member, v))
		case "time":
			when = v
		default:
			sink.other(at, member, v)
		}
		if err != nil {
			return invalid.New(at.String()+": "+member, err.Error(), "correct the value")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if session != s.session || s.sessions == 0 {
		s.session = session
		s.sessions++
	}
	role, err := s.role(sink, at, name)
	if err != nil {
		return err
	}
	if said == "" {
		sink.report.lose("messages without content", at, "left out")
		return nil
	}
	return sink.say(at, turn.Draft{Role: role, Content: turn.Text{Text: said}, MessageID: id}, sink.at(at, when))
}

// role is the user's for the first speaker and the agent's for the second.
func (s *speakers) role(sink *sink, at place, name string) (turn.Role, error) {
	for i, role := range []turn.Role{turn.User, turn.Agent} {
		if s.names[i] == name && name != "" {
			return role, nil
		}
		if s.names[i] == "" && name != "" {
			s.names[i] = name
			sink.report.lose("names of speakers", at, fmt.Sprintf("left out, the first was %.60q", name))
			return role, nil
		}
	}
	if name == "" {
		return "", invalid.New(at.String()+": speaker", "is empty", "name who speaks")
	}
	return "", invalid.New(at.String()+": speaker",
		fmt.Sprintf("%.60q is the third, after %.60q and %.60q", name, s.names[0], s.names[1]), "give a conversation of two, or messages with roles")
}

// lines writes a turn a line, as the log has it, with the bytes of images and recordings.
func (e *exporter) lines(ctx context.Context) error {
	e.headerLost("title", e.header.Title, "model", e.header.Model, "provider", e.header.Provider, "user", e.header.User,
		"compressions", count(int64(e.header.Compressions)), "tokens", count(e.header.Tokens))
	return e.each(ctx, func(t turn.Turn) error {
		var err error
		if t.Content, err = e.hydrate(ctx, t); err != nil {
			return err
		}
		e.write(string(t.AppendJSON(nil)), "\n")
		return nil
	})
}

// count is a number as text, empty for none.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
