// Package chain is how a client's history finds its session: hashes over the messages that it repeats.
//
// Clients of a model API keep no session. They send the whole conversation with every call, and the hash over its
// first messages is the same each time: [Next] takes the hash of what came before and one message more. Who answered
// a call notes the hash up to the answer as a [Link], and finds the session by it when the next call repeats so far.
//
// The package owns what makes two messages the same. Text is the same to the last blank; the arguments of a call are
// the same when they are the same JSON, since clients take them apart and write them again. The rules have a version
// that goes into every hash: a chain of another version is simply not found.
package chain

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// version changes with every change of what goes into a hash.
const version = "turnstone chain 1"

// Hash stands for a conversation from its first message up to one of them. The zero value is the empty conversation.
type Hash [sha256.Size]byte

// Message is what one message of a history says, whatever the API it came over.
type Message struct {
	Role string // as the API names it: system, user, assistant, tool
	// Text is the content where it is one text. It is the same as one part of that text.
	Text string
	// Parts are the content where it is several, after Text.
	Parts []Part
	// Calls are the tool calls of an assistant.
	Calls []Call
	// CallID and Name are of a tool's message, or of whoever has a name; empty where the API has none.
	CallID, Name string
}

// Part is one part of a content: a text, or bytes by their hash.
type Part struct {
	Text string
	Blob Hash // the SHA-256 of a picture or a recording; zero for a text
}

// Call is a tool call. ID is empty where the API has none. Arguments are JSON, or whatever the model made instead; none
// are the same as an empty object.
type Call struct {
	ID, Name, Arguments string
}

// Next is the hash of a conversation that goes on with a message. Equal messages give equal hashes, and in practice no
// others do.
func Next(previous Hash, m Message) Hash {
	e := encodings.Get().(*encoding)
	defer e.release()
	e.text(version)
	e.buf = append(e.buf, previous[:]...)
	e.text(m.Role)
	e.parts(m)
	e.count(len(m.Calls))
	for _, c := range m.Calls {
		e.text(c.ID)
		e.text(c.Name)
		e.text(canonical(c.Arguments))
	}
	e.text(m.CallID)
	e.text(m.Name)
	return sha256.Sum256(e.buf)
}

// Apart is where a conversation begins, or goes on from what was said before, that is kept apart by names: whose it is, or what
// its client calls it. The same messages have other hashes there, so that only who has the names finds it.
func Apart(previous Hash, names ...string) Hash {
	var e encoding
	e.text(version + ", apart")
	e.buf = append(e.buf, previous[:]...)
	for _, name := range names {
		e.text(name)
	}
	return sha256.Sum256(e.buf)
}

// encoding writes values so that no two lists of them give the same bytes: each with its length before it.
type encoding struct{ buf []byte }

// encodings are kept from one message to the next: a history has thousands of them.
var encodings = sync.Pool{New: func() any { return new(encoding) }}

// maxKept is how large an encoding may be to be kept.
const maxKept = 1 << 20

func (e *encoding) release() {
	if cap(e.buf) <= maxKept {
		e.buf = e.buf[:0]
		encodings.Put(e)
	}
}

func (e *encoding) count(n int) { e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(n)) }

func (e *encoding) text(s string) {
	e.count(len(s))
	e.buf = append(e.buf, s...)
}

// parts writes the parts that say something: an API may send an empty text beside a picture, or leave it out.
func (e *encoding) parts(m Message) {
	all := make([]Part, 0, 1+len(m.Parts))
	for _, p := range append([]Part{{Text: m.Text}}, m.Parts...) {
		if p != (Part{}) {
			all = append(all, p)
		}
	}
	e.count(len(all))
	for _, p := range all {
		e.text(p.Text)
		e.buf = append(e.buf, p.Blob[:]...)
	}
}
