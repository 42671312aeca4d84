package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines are messages on standard input and output, one on each line. What a client sends that is no message is answered
// with an error and not handed on: a reader behind it gives up at the first such line.
type lines struct {
	io.Closer
	in   *bufio.Reader
	out  io.Writer
	most int    // bytes of a line
	left []byte // of a line that is being handed on
	end  error
}

// newLines reads lines from in and answers those that are no messages on out, where each write must be one of a line and
// safe for concurrent use.
func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{Closer: in, in: bufio.NewReader(in), out: out, most: mcp.DefaultMaxLineLength}
}

// lostError says that nothing more can be read, or that what was wrong with a line cannot be said.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// Read implements [io.Reader] with the lines that are messages.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.left) == 0 {
		if l.end != nil {
			return 0, l.end
		}
		if err := l.next(); err != nil {
			l.end = &lostError{err}
		}
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// next reads a line, and has it handed on or answers it.
func (l *lines) next() error {
	line, long, err := l.line()
	if errors.Is(err, io.EOF) {
		l.end = io.EOF
	} else if err != nil {
		return err
	}
	line = bytes.TrimSpace(line)
	switch {
	case long:
		return l.refuse(jsonrpc.CodeInvalidRequest, nil, fmt.Sprintf("a message may have %d bytes", l.most))
	case len(line) == 0:
		return nil
	case !json.Valid(line):
		return l.refuse(jsonrpc.CodeParseError, nil, "the line is no JSON: send one message on each line")
	}
	if id, wrong := check(line); wrong != nil {
		return l.refuse(jsonrpc.CodeInvalidRequest, id, wrong.Error())
	}
	l.left = append(line, '\n')
	return nil
}

// line reads a line. Of one that is too long it keeps nothing.
func (l *lines) line() (line []byte, long bool, err error) {
	for {
		piece, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > l.most; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// check says what is wrong with JSON that is no message and no batch of them, and which call it was meant for, as far as
// that can be seen.
func check(line []byte) (id json.RawMessage, wrong error) {
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil {
		_, wrong = jsonrpc.DecodeMessage(line)
		return idOf(line), wrong
	}
	if len(batch) == 0 {
		return nil, errors.New("the batch is empty")
	}
	for _, message := range batch {
		if _, err := jsonrpc.DecodeMessage(message); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// idOf is the id of something that may be a message: a text or a number, or nil.
func idOf(line []byte) json.RawMessage {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &asked) != nil || len(asked.ID) == 0 || asked.ID[0] != '"' && asked.ID[0] != '-' && (asked.ID[0] < '0' || asked.ID[0] > '9') {
		return nil
	}
	return asked.ID
}

// refuse answers what cannot be handed on. Without an id it is that of no call.
func (l *lines) refuse(code int64, id json.RawMessage, message string) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	answer, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, &jsonrpc.Error{Code: code, Message: message}})
	if err != nil {
		return err
	}
	_, err = l.out.Write(append(answer, '\n'))
	return err
}

// inTurn is an output that several may write to at once, each a line.
type inTurn struct {
	mu sync.Mutex // held while a line is written
	io.WriteCloser
}

// Write implements [io.Writer].
func (o *inTurn) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.WriteCloser.Write(line)
}
