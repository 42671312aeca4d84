package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// A read from a terminal or a pipe cannot be called off, so standard input is read by a goroutine
// of its own: when the run is interrupted it is left waiting, and ends with the process. An input that ends
// just then, as the programs of a pipe are interrupted together, may not be whole and is not used.

// readInput reads standard input to its end. Flag names what the limit comes from, empty where nothing raises it.
func (a *app) readInput(ctx context.Context, limit int64, flag string) ([]byte, error) {
	type input struct {
		data []byte
		err  error
	}
	read := make(chan input, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(a.stdin, limit+1))
		read <- input{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case in := <-read:
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if in.err != nil {
			return nil, fmt.Errorf("standard input: %w", in.err)
		}
		if int64(len(in.data)) > limit {
			next := "send less"
			if flag != "" {
				next += " or raise " + flag
			}
			return nil, usage(next, "standard input: more than %d bytes", limit)
		}
		return in.data, nil
	}
}

// errLongLine says that a line was longer than the limit and was skipped.
var errLongLine = errors.New("line too long")

// lines yields the lines of standard input without their ends. An error ends them, except for
// errLongLine.
func (a *app) lines(ctx context.Context, limit int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		type line struct {
			text []byte
			err  error
		}
		read := make(chan line)
		done := make(chan struct{})
		defer close(done)
		go func() {
			defer close(read)
			in := bufio.NewReader(a.stdin)
			for {
				text, err := readLine(in, limit)
				if errors.Is(err, io.EOF) {
					return
				}
				select {
				case read <- line{text, err}:
				case <-done:
					return
				}
				if err != nil && !errors.Is(err, errLongLine) {
					return
				}
			}
		}()
		for {
			select {
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			case l, ok := <-read:
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !ok || !yield(l.text, l.err) {
					return
				}
			}
		}
	}
}

// readLine returns io.EOF only when nothing is left: a last line needs no end.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			long = true
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) == 0 && !long:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("standard input: %w", err)
		case long:
			return nil, errLongLine
		default:
			return bytes.TrimRight(line, "\r\n"), nil
		}
	}
}
