package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// draining is a transport whose end is seen when everything that was asked is answered: a client that sends its requests
// and closes its end, as a script does, gets all answers. A batch that cannot be taken is refused, and is no end.
type draining struct {
	mcp.Transport
	refuse func(reason string) error
}

// overLines is a draining transport of messages on lines.
func overLines(in io.ReadCloser, out io.WriteCloser) draining {
	o := &inTurn{WriteCloser: out}
	l := newLines(in, o)
	// The lines are bounded already.
	return draining{&mcp.IOTransport{Reader: l, Writer: o, MaxLineLength: -1}, func(reason string) error {
		return l.refuse(jsonrpc.CodeInvalidRequest, nil, reason)
	}}
}

// Connect implements [mcp.Transport].
func (d draining) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drained{Connection: conn, refuse: d.refuse, closed: make(chan struct{}), changed: make(chan struct{}, 1), asked: map[jsonrpc.ID]bool{}}, nil
}

type drained struct {
	mcp.Connection
	refuse func(reason string) error
	once   sync.Once
	closed chan struct{}
	// changed holds something when asked has become smaller.
	changed chan struct{}

	mu    sync.Mutex // guards what follows
	asked map[jsonrpc.ID]bool
}

// Read implements [mcp.Connection].
func (d *drained) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		message, err := d.Connection.Read(ctx)
		if request, ok := message.(*jsonrpc.Request); ok && err == nil {
			d.note(request)
		}
		var lost *lostError
		if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &lost) && ctx.Err() == nil {
			if err = d.refuse(err.Error()); err == nil {
				continue
			}
		}
		if err != nil {
			d.wait(ctx)
		}
		return message, err
	}
}

func (d *drained) note(request *jsonrpc.Request) {
	if request.IsCall() {
		d.mu.Lock()
		d.asked[request.ID] = true
		d.mu.Unlock()
		return
	}
	// What was called off may never be answered.
	var cancelled struct {
		ID any `json:"requestId"`
	}
	if request.Method != "notifications/cancelled" || json.Unmarshal(request.Params, &cancelled) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(cancelled.ID); err == nil {
		d.settle(id)
	}
}

// Write implements [mcp.Connection].
func (d *drained) Write(ctx context.Context, message jsonrpc.Message) error {
	err := d.Connection.Write(ctx, message)
	if response, ok := message.(*jsonrpc.Response); ok {
		d.settle(response.ID)
	}
	return err
}

func (d *drained) settle(id jsonrpc.ID) {
	d.mu.Lock()
	delete(d.asked, id)
	d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// wait returns when nothing is left to answer, or nobody is there to do it.
func (d *drained) wait(ctx context.Context) {
	for {
		d.mu.Lock()
		left := len(d.asked)
		d.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-d.changed:
		case <-d.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Close implements [mcp.Connection].
func (d *drained) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Connection.Close()
}
