// Package sse is server-sent events: what they look like on the wire, written one by one and read again.
package sse

import (
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Event is one event of a stream.
type Event struct {
	// ID is where a client goes on that was cut off: it sends the last one it saw as Last-Event-ID. Empty: it keeps
	// the one it has. An event without data is not shown to whoever reads: its id only moves that place.
	ID string
	// Name is what kind of event it is. Empty is the same as "message".
	Name string
	// Data is what it says. However its lines end, whoever reads it finds them ended by \n.
	Data string
	// Retry is how long a client waits before it connects again, in whole milliseconds. 0 says nothing about it.
	Retry time.Duration
}

// lineEnds are what ends a line in a stream.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Append adds the event to a slice as it stands on the wire. An *[invalid.Field] says that its id or its name cannot
// stand there.
func Append(to []byte, e Event) ([]byte, error) {
	if strings.ContainsAny(e.ID, "\r\n\x00") {
		return to, invalid.New("id", "it holds a line break or a NUL", "use one line")
	}
	if strings.ContainsAny(e.Name, "\r\n") {
		return to, invalid.New("event", "it holds a line break", "use one line")
	}
	if e.Retry >= time.Millisecond {
		to = append(to, "retry: "...)
		to = strconv.AppendInt(to, e.Retry.Milliseconds(), 10)
		to = append(to, '\n')
	}
	if e.ID != "" {
		to = appendField(to, "id", e.ID)
	}
	if e.Name != "" {
		to = appendField(to, "event", e.Name)
	}
	if e.Data != "" {
		for line := range strings.SplitSeq(lineEnds.Replace(e.Data), "\n") {
			to = appendField(to, "data", line)
		}
	}
	return append(to, '\n'), nil
}

// appendComment adds a line that whoever reads passes over.
func appendComment(to []byte, text string) []byte {
	for line := range strings.SplitSeq(lineEnds.Replace(text), "\n") {
		to = appendField(to, "", line)
	}
	return append(to, '\n')
}

func appendField(to []byte, name, value string) []byte {
	to = append(to, name...)
	to = append(to, ':', ' ')
	to = append(to, value...)
	return append(to, '\n')
}
