package history

import (
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// image adds an image of the role as the user's: nobody else can show one.
func (m *message) image(p part, role turn.Role) {
	if role != turn.User {
		m.report.lose("images of others than the user", m.place, "kept as the user's")
	}
	image, address := m.decodeImage(p.media)
	switch {
	case image.Data != nil:
		if !slices.Contains(turn.ImageTypes(), strings.ToLower(image.MediaType)) {
			m.report.lose("images of an unknown media type", m.place, "replaced by a text that says so")
			m.add(turn.User, "[image left out: its media type is unknown]")
			return
		}
		m.turns = append(m.turns, found{role: turn.User, content: image})
	case address != "":
		m.report.lose("images that are elsewhere", m.place, "replaced by a text with the address")
		m.add(turn.User, "[image at "+address+"]")
	default:
		m.report.lose("images that cannot be decoded", m.place, "replaced by a text that says so")
		m.add(turn.User, "[image left out: it cannot be decoded]")
	}
}

// decodeImage reads the address or the source of an image; without Data there may be an address.
func (m *message) decodeImage(v strictjson.Raw) (image turn.Image, address string) {
	var encoded string
	set := func(name string, v strictjson.Raw) error {
		switch name {
		case "url", "file_id":
			address = m.scalar(m.place, v)
		case "media_type":
			image.MediaType = m.scalar(m.place, v)
		case "data":
			encoded = m.scalar(m.place, v)
		case "type", "detail":
		default:
			m.other(m.place, name, v)
		}
		return nil
	}
	if v.Kind() == strictjson.KindString {
		address = m.scalar(m.place, v)
	} else if err := v.Object(set); err != nil {
		return turn.Image{}, ""
	}
	if rest, inside := strings.CutPrefix(address, "data:"); inside {
		image, err := dataURL(rest)
		if err != nil {
			return turn.Image{}, ""
		}
		return image, ""
	}
	if encoded == "" {
		return turn.Image{}, address
	}
	data, err := decodeBase64(encoded)
	if err != nil {
		return turn.Image{}, ""
	}
	image.Data = data
	return image, ""
}

// recording adds speech as the user's: nobody else can be heard.
func (m *message) recording(p part, role turn.Role) {
	if role != turn.User {
		m.report.lose("recordings of others than the user", m.place, "kept as the user's")
	}
	var encoded, format string
	var speech turn.Speech
	err := p.media.Object(func(name string, v strictjson.Raw) error {
		switch name {
		case "data":
			encoded = m.scalar(m.place, v)
		case "format":
			format = m.word(m.place, name, v)
		case "transcript":
			speech.Transcript = m.word(m.place, name, v)
		default:
			m.other(m.place, "input_audio."+name, v)
		}
		return nil
	})
	data, decodeErr := decodeBase64(encoded)
	if err != nil || decodeErr != nil {
		m.report.lose("recordings that cannot be decoded", m.place, "replaced by a text that says so")
		m.add(turn.User, described("[recording left out: it cannot be decoded]", speech.Transcript))
		return
	}
	if speech.Transcript == "" {
		m.report.lose("recordings without a transcript", m.place, "kept with a text that says so")
		speech.Transcript = "[recording without a transcript]"
	}
	if media := audioType(format); slices.Contains(turn.AudioTypes(), media) {
		speech.Audio = &turn.Audio{MediaType: media, Blob: turn.Blob{Data: data}}
	} else {
		m.report.lose("recordings of an unknown format", m.place, "kept as their words")
	}
	m.turns = append(m.turns, found{role: turn.User, content: speech})
}

// audioType is the media type of a format as providers name it.
func audioType(format string) string {
	if format == "mp3" {
		return "audio/mpeg"
	}
	return "audio/" + strings.ToLower(format)
}
