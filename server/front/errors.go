package front

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

var (
	errNoModel = errors.New("model is required")
	// errGone says that the client hung up.
	errGone = errors.New("the client hung up")
	// errSlow says that a call did not come in time.
	errSlow = errors.New("the call took too long to arrive")
	// errNowhere says that a path leads out of the API.
	errNowhere = errors.New("there is nothing there")
	// errBroken says that something panicked.
	errBroken = errors.New("the front broke down")
	// errEnding says that the server ends a call whose client is still there.
	errEnding = errors.New("the server is being stopped; what came of the answer so far is kept")
)

// badCall is a call that cannot be understood.
type badCall struct{ error }

func (e *badCall) Unwrap() error { return e.error }

// refusal is an answer of the upstream server that is not 200.
type refusal struct {
	status int
	header http.Header
	body   []byte
}

func (e *refusal) Error() string { return e.complaint().Message }

// complaint is an error as OpenAI has it.
type complaint struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// complaint reads what the server said, in either way of saying it.
func (e *refusal) complaint() complaint {
	var body struct{ Error json.RawMessage }
	c := complaint{Type: typeOf(e.status)}
	if json.Unmarshal(e.body, &body) != nil || len(body.Error) == 0 {
		c.Message = string(e.body)
	} else if json.Unmarshal(body.Error, &c.Message) != nil {
		var said struct {
			Message, Type string
			Param         *string
			Code          any
		}
		if json.Unmarshal(body.Error, &said) != nil || said.Message == "" {
			said.Message = string(body.Error)
		}
		c.Message, c.Param = said.Message, said.Param
		if said.Type != "" {
			c.Type = said.Type
		}
		if code, ok := said.Code.(string); ok {
			c.Code = &code
		}
	}
	if c.Message == "" {
		c.Message = http.StatusText(e.status)
	}
	if c.Code == nil {
		c.Code = codeOf(e.status, c.Message)
	}
	return c
}

// codeOf is what OpenAI calls an error of a status by, in a word that clients look for; nil where it has none.
func codeOf(status int, said string) *string {
	judged := llm.Refusal{Status: status, Said: said}.Judge("")
	code := ""
	switch {
	case errors.Is(judged, llm.ErrContextExceeded):
		code = overBudget
	case errors.Is(judged, llm.ErrRateLimited):
		code = "rate_limit_exceeded"
	case errors.Is(judged, llm.ErrModelMissing):
		code = "model_not_found"
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	default:
		return nil
	}
	return &code
}

const overBudget = "context_length_exceeded"

// typeOf is what OpenAI calls errors of a status.
func typeOf(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request_error"
}

// storeAway stands for the condition of the store, which is told in place of its words: they may name what is none of the
// client's business.
const storeAway = "the condition of the store"

// internal is told in place of an error that is in no table.
const internal = "an internal error; see the server's log"

// statuses say what an error is to a client: its status, and what is said in place of its own words. The first that fits
// counts.
var statuses = []struct {
	is      error
	status  int
	instead string
}{
	{errEnding, http.StatusServiceUnavailable, errEnding.Error()},
	{turnstone.ErrOverBudget, http.StatusBadRequest, ""},
	{turnstone.ErrMoved, http.StatusConflict, ""},
	{turnstone.ErrBusy, http.StatusConflict, ""},
	{turn.ErrLeaseLost, http.StatusConflict, ""},
	{turn.ErrConflict, http.StatusConflict, ""},
	{turn.ErrNotFound, http.StatusNotFound, ""},
	{errNowhere, http.StatusNotFound, ""},
	{errNoModel, http.StatusBadRequest, ""},
	{errSlow, http.StatusRequestTimeout, ""},
	{store.ErrUnavailable, http.StatusServiceUnavailable, storeAway},
	{store.ErrLocked, http.StatusServiceUnavailable, storeAway},
	{store.ErrFull, http.StatusServiceUnavailable, storeAway},
	{store.ErrReadOnly, http.StatusServiceUnavailable, storeAway},
	{store.ErrRemoved, http.StatusServiceUnavailable, storeAway},
	{store.ErrUnknown, http.StatusServiceUnavailable, storeAway},
	{store.ErrClosed, http.StatusServiceUnavailable, storeAway},
	{turnstone.ErrClosed, http.StatusServiceUnavailable, "the server is being stopped"},
	{httpstream.ErrSilent, http.StatusGatewayTimeout, ""},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "it took too long"},
	{llm.ErrUnreachable, http.StatusBadGateway, ""},
	{llm.ErrInterrupted, http.StatusBadGateway, ""},
	{llm.ErrFailed, http.StatusBadGateway, ""},
}

// told is an error as a client is told it. What is kept from the client stands in the log.
func (f *Front) told(err error) (int, complaint) {
	status, message := statusOf(err)
	if message == "" {
		message = err.Error()
	} else {
		f.log.Error("call", "status", status, "error", err)
	}
	c := complaint{Message: message, Type: typeOf(status)}
	var wrong *misfit
	if errors.As(err, &wrong) {
		c.Param, c.Code = &wrong.param, &wrong.code
	}
	if errors.Is(err, turnstone.ErrOverBudget) {
		code := overBudget
		c.Code = &code
	}
	return status, c
}

func statusOf(err error) (status int, instead string) {
	var bad *badCall
	var field *invalid.Field
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, ""
	case errors.As(err, &bad), errors.As(err, &field):
		return http.StatusBadRequest, ""
	}
	for _, s := range statuses {
		if !errors.Is(err, s.is) {
			continue
		}
		if s.instead == storeAway {
			return s.status, store.Condition(err)
		}
		return s.status, s.instead
	}
	return http.StatusInternalServerError, internal
}

// refuse answers with an error in the words of the API. What an upstream server of the same kind said passes as it is.
func (f *Front) refuse(w http.ResponseWriter, a api, err error) {
	var said *refusal
	if errors.As(err, &said) {
		if wait := said.header.Get("Retry-After"); wait != "" {
			w.Header().Set("Retry-After", wait)
		}
		if a.kind() == f.config.Upstream.Kind && json.Valid(said.body) {
			f.answer(w, said.header.Get("Content-Type"), said.status, said.body)
			return
		}
		f.answer(w, jsonType, said.status, errorBody(a, said.complaint()))
		return
	}
	status, c := f.told(err)
	if status == http.StatusServiceUnavailable && !store.Lasting(err) {
		w.Header().Set("Retry-After", "1")
	}
	f.answer(w, jsonType, status, errorBody(a, c))
}

// excuse tells the client of a request what is wrong, unless it has gone: nobody is told then, and nothing went wrong here.
func (f *Front) excuse(w http.ResponseWriter, r *http.Request, a api, err error) {
	if gone(r.Context()) {
		f.log.Debug("request not answered", "error", err)
		return
	}
	f.refuse(w, a, ended(r.Context(), err))
}

// Refuse answers a request of a model API with an error, in the words of the API that its path belongs to.
func Refuse(w http.ResponseWriter, r *http.Request, status int, detail string) {
	a := ollamaChat
	if strings.HasPrefix(r.URL.Path, "/v1") {
		a = openaiChat
	}
	c := complaint{Message: detail, Type: typeOf(status)}
	if status == http.StatusUnauthorized || status == http.StatusTooManyRequests {
		c.Code = codeOf(status, "")
	}
	body := errorBody(a, c)
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		return // who asked has gone
	}
}

const jsonType = "application/json; charset=utf-8"

func (f *Front) answer(w http.ResponseWriter, contentType string, status int, body []byte) {
	if contentType != "" {
		w.Header().Set("Content-Type", contentType)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		f.log.Debug("answer not sent", "error", err)
	}
}

// errorBody is an error as the API writes it.
func errorBody(a api, c complaint) []byte {
	var body any = struct {
		Error complaint `json:"error"`
	}{c}
	if a.kind() == Ollama {
		body = struct {
			Error string `json:"error"`
		}{c.Message}
	}
	return encode(body)
}
