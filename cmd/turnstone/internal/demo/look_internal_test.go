package demo

import (
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
)

func TestPlaceIn(t *testing.T) {
	said := func(text string, seqs ...int64) prompt.Message {
		return prompt.Message{Seqs: seqs, Parts: []prompt.Part{{Text: "so: " + text}}}
	}
	for name, test := range map[string]struct {
		messages []prompt.Message
		want     Place
	}{
		"nowhere":              {[]prompt.Message{said("red", 4)}, ""},
		"the turn":             {[]prompt.Message{said("red", 3), said("blue", 4)}, Verbatim},
		"a note":               {[]prompt.Message{said("blue")}, Kept},
		"another turn":         {[]prompt.Message{said("blue", 5)}, Kept},
		"a note, then it":      {[]prompt.Message{said("blue"), said("blue", 2, 4)}, Verbatim},
		"it, then a note":      {[]prompt.Message{said("blue", 4), said("blue")}, Verbatim},
		"the turn without it":  {[]prompt.Message{said("red", 4), said("blue")}, Kept},
		"nothing in messages":  {[]prompt.Message{{Seqs: []int64{4}}}, ""},
		"no messages whatever": {nil, ""},
	} {
		if got := placeIn(test.messages, 4, "blue"); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
