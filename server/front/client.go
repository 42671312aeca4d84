package front

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// client is who called. After the first error nothing more is written.
type client struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	until    time.Time // the deadline of writes
	begun    bool
	err      error
}

func newClientOf(w http.ResponseWriter, patience time.Duration) *client {
	return &client{w: w, control: http.NewResponseController(w), patience: patience}
}

func (c *client) header(name, value string) { c.w.Header().Set(name, value) }

// begin sends the header of a stream, once.
func (c *client) begin(contentType string) {
	if c.begun {
		return
	}
	c.begun = true
	c.header("Content-Type", contentType)
	c.header("Cache-Control", "no-cache")
	c.w.WriteHeader(http.StatusOK)
}

// same sends the header of an answer that passes as it is.
func (c *client) same(response *http.Response) {
	c.begun = true
	copyHeader(c.w.Header(), response)
	c.w.WriteHeader(response.StatusCode)
}

func (c *client) write(data []byte) {
	if c.err != nil || len(data) == 0 {
		return
	}
	c.renew()
	if _, err := c.w.Write(data); err != nil {
		c.err = fmt.Errorf("%w: %w", errGone, err)
	}
}

// flush sends what was written.
func (c *client) flush() {
	if c.err != nil {
		return
	}
	if err := c.control.Flush(); err != nil {
		c.err = fmt.Errorf("%w: %w", errGone, err)
	}
}

// renew gives the client its time to read. That a connection knows no deadlines is no reason not to write to it.
func (c *client) renew() {
	now := time.Now()
	if c.until.Sub(now) > c.patience/2 {
		return
	}
	c.until = now.Add(c.patience)
	if err := c.control.SetWriteDeadline(c.until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		c.err = fmt.Errorf("%w: %w", errGone, err)
	}
}

// whole sends an answer that is not streamed.
func (c *client) whole(body []byte) {
	c.begun = true
	c.header("Content-Type", jsonType)
	c.header("Content-Length", strconv.Itoa(len(body)))
	c.write(body)
}
