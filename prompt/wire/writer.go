package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/prompt"
)

// What is said where a provider demands words and there are none.
const (
	emptyText  = "(empty)"
	failedText = "(failed)"
	beginning  = "(The conversation begins.)"
	goOn       = "(Go on.)"
)

// writer appends one body.
type writer struct {
	ctx   context.Context
	dst   []byte
	blobs Blobs
	// open are the calls of the last agent's message that have no result yet.
	open   []prompt.ToolCall
	pieces []piece
}

// piece is what is shown of a part: text or, where there is data, a picture.
type piece struct {
	text      string
	mediaType string
	data      []byte
}

// pictures is which pictures a provider accepts.
type pictures struct {
	types []string
	limit int // of one picture, in bytes; 0 is none
}

var noPictures = pictures{}

// show returns what is shown of a message: nothing only of one that calls tools. The result is good until
// the next call.
func (w *writer) show(m *prompt.Message, accepted pictures) ([]piece, error) {
	w.pieces = w.pieces[:0]
	for i := range m.Parts {
		p := &m.Parts[i]
		shown := piece{text: p.Text}
		if p.Image != nil {
			var err error
			if shown, err = w.picture(p.Image, accepted); err != nil {
				return nil, err
			}
		}
		if shown.data != nil || !blank(shown.text) {
			w.pieces = append(w.pieces, shown)
		}
	}
	if len(w.pieces) == 0 && len(m.Calls) == 0 {
		w.pieces = append(w.pieces, piece{text: nothing(m)})
	}
	return w.pieces, nil
}

func nothing(m *prompt.Message) string {
	if m.Failed {
		return failedText
	}
	return emptyText
}

func (w *writer) picture(im *prompt.Image, accepted pictures) (piece, error) {
	tooLarge := func(size int64) bool { return accepted.limit > 0 && size > int64(accepted.limit) }
	if w.blobs == nil || !slices.Contains(accepted.types, im.MediaType) || tooLarge(im.Size) {
		return piece{text: alternative(im)}, nil
	}
	data, err := w.blobs(w.ctx, im.SHA256)
	if err != nil {
		return piece{}, fmt.Errorf("picture %.12s: %w", im.SHA256, err)
	}
	if len(data) == 0 || tooLarge(int64(len(data))) {
		return piece{text: alternative(im)}, nil
	}
	return piece{mediaType: im.MediaType, data: data}, nil
}

func alternative(im *prompt.Image) string {
	if blank(im.Alt) {
		return "[image]"
	}
	return "[image: " + im.Alt + "]"
}

// answered is the call that a tool's message is the result of.
func (w *writer) answered() prompt.ToolCall {
	call := w.open[0]
	w.open = w.open[1:]
	return call
}

func (w *writer) raw(s string) { w.dst = append(w.dst, s...) }

// comma separates what follows from what stands before it in a list.
func (w *writer) comma() {
	if last := w.dst[len(w.dst)-1]; last != '[' && last != '{' {
		w.dst = append(w.dst, ',')
	}
}

func (w *writer) str(s string) { w.dst = appendString(w.dst, s) }

// appendString appends a JSON string. What is not UTF-8 in it is replaced.
func appendString(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return strictjson.AppendString(dst, s)
}

// space is what any provider's language calls white space, which is more than Unicode does.
func space(r rune) bool {
	return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f || r == '\ufeff'
}

func blank(s string) bool { return strings.TrimLeftFunc(s, space) == "" }

// conversation splits off the beginning of the prompt.
func conversation(messages []prompt.Message) (system *prompt.Message, rest []prompt.Message) {
	if len(messages) > 0 && messages[0].Role == prompt.System {
		return &messages[0], messages[1:]
	}
	return nil, messages
}
