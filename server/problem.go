package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Problem is an error as clients are told it: RFC 9457, application/problem+json.
type Problem struct {
	Type      string `json:"type" doc:"which kind of problem it is: a path of this server's documentation" example:"/api/v1/docs#not-found"`
	Title     string `json:"title" doc:"the kind in words"`
	Status    int    `json:"status" doc:"the status of the response"`
	Detail    string `json:"detail" doc:"what is wrong here and, after a semicolon, what to do: of 400, 404 and 409 always"`
	Instance  string `json:"instance,omitempty" doc:"the path that was asked"`
	Field     string `json:"field,omitempty" doc:"which part of the input is wrong, such as turns[0].role"`
	RequestID string `json:"request_id,omitempty" doc:"under which the server's log knows it"`
	// Account is of a prompt that does not fit.
	Account *Account `json:"account,omitempty" doc:"where every token goes of a prompt that does not fit"`
	// RetryAfter is also a header.
	RetryAfter int `json:"retry_after,omitempty" doc:"after how many seconds it may be tried again"`
}

// advise sets the header that says when to try again.
func (p *Problem) advise(set func(name, value string)) {
	if p.RetryAfter > 0 {
		set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
}

// Error is the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is for huma.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is for huma.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// kind is one row of the table that translates errors to statuses.
type kind struct {
	name   string // the fragment of the type
	status int
	title  string
	causes []error
	is     func(error) bool
	// secret kinds are told without the error's own words, which may name what is none of the client's business.
	secret bool
}

// kinds is the one table, in the order in which an error is held against it. The last row takes what no other does.
var kinds = []kind{
	// A row that cannot be read is no input of the client, whatever is wrong with it.
	{name: "corrupt", status: http.StatusInternalServerError, title: "The store is damaged; see the server's log", secret: true, causes: []error{store.ErrCorrupt}},
	{name: "busy", status: http.StatusLocked, title: "Somebody else is at work on the session; try again in a moment",
		causes: []error{turn.ErrLeaseLost, turnstone.ErrBusy, prompt.ErrStale}, is: as[*turn.LeaseHeldError]},
	{name: "over-budget", status: http.StatusUnprocessableEntity, title: "The prompt does not fit the model's window",
		causes: []error{budget.ErrOverBudget, llm.ErrContextExceeded}},
	{name: "limit", status: http.StatusUnprocessableEntity, title: "The exchange took more than it may", is: as[*agent.LimitError]},
	{name: "changed", status: http.StatusGone, title: "What it was made from is no longer there",
		causes: []error{prompt.ErrChanged, turn.ErrForgotten}},
	{name: "damaged", status: http.StatusUnprocessableEntity, title: "What was sent is damaged or of a newer version",
		causes: []error{replay.ErrDamaged}, is: as[*replay.NewerVersionError]},
	{name: "model", status: http.StatusBadGateway, title: "The model could not answer",
		causes: []error{llm.ErrUnreachable, llm.ErrRateLimited, llm.ErrFailed, llm.ErrRefused, llm.ErrInterrupted, llm.ErrModelMissing, agent.ErrNoAnswer}},
	{name: "unavailable", status: http.StatusServiceUnavailable, title: "The server or its store cannot be used now", secret: true,
		causes: []error{store.ErrLocked, store.ErrFull, store.ErrReadOnly, store.ErrRemoved, store.ErrUnavailable, store.ErrUnknown, store.ErrClosed}},
	{name: "timeout", status: http.StatusGatewayTimeout, title: "It took too long", secret: true, causes: []error{context.DeadlineExceeded}},
	{name: "cancelled", status: statusCancelled, title: "The client went away", causes: []error{context.Canceled}},
	{name: "conflict", status: http.StatusConflict, title: "It exists already, or contradicts what is stored",
		causes: []error{turn.ErrExists, turn.ErrConflict, dialogue.ErrConflict, event.ErrExists, access.ErrExists, store.ErrNotEmpty,
			turnstone.ErrNothingToUndo, turnstone.ErrNothingToCompress, turnstone.ErrCompressionOff, turnstone.ErrSnapshotsOff}},
	{name: "not-found", status: http.StatusNotFound, title: "There is no such thing",
		causes: []error{turn.ErrNotFound, dialogue.ErrNotFound, cortex.ErrNotFound, memory.ErrNotFound, event.ErrNotFound,
			prompt.ErrNotFound, compress.ErrNotFound, snapshot.ErrNotFound, access.ErrUnknownKey}},
	{name: "not-legal", status: http.StatusUnprocessableEntity, title: "It is not legal as things stand",
		is: func(err error) bool { return as[*turnstone.RefusedError](err) || as[*dialogue.OpError](err) }},
	{name: "invalid", status: http.StatusBadRequest, title: "The input is not as it must be", is: as[*invalid.Field]},
	{name: "internal", status: http.StatusInternalServerError, title: "An internal error; see the server's log", secret: true},
}

// statusCancelled is what logs show of a request whose client went away. Nobody receives it.
const statusCancelled = 499

// others are the kinds of problems that no error of the engine stands for, by their status.
var others = map[int]kind{
	http.StatusUnauthorized:          {name: "unauthorized", title: "A key is needed"},
	http.StatusForbidden:             {name: "forbidden", title: "It is not allowed"},
	http.StatusMethodNotAllowed:      {name: "method", title: "The path does not know this method"},
	http.StatusNotAcceptable:         {name: "not-acceptable", title: "There is no answer of that type"},
	http.StatusRequestTimeout:        {name: "slow", title: "The request took too long to arrive"},
	http.StatusPreconditionFailed:    {name: "precondition", title: "It is no longer what it was"},
	http.StatusRequestEntityTooLarge: {name: "too-large", title: "The request is too large"},
	http.StatusUnsupportedMediaType:  {name: "media-type", title: "The request is of another type than the path takes"},
	http.StatusTooManyRequests:       {name: "rate", title: "Too many requests"},
}

func as[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

// kindOf is the row of the table that an error belongs to.
func kindOf(err error) kind {
	for _, k := range kinds {
		if k.is != nil && k.is(err) {
			return k
		}
		for _, cause := range k.causes {
			if errors.Is(err, cause) {
				return k
			}
		}
	}
	return kinds[len(kinds)-1]
}

// refuse is a problem of the server's own.
func refuse(status int, format string, args ...any) *Problem {
	k := kindWith(status)
	return &Problem{Type: typeOf(k), Title: k.title, Status: status, Detail: fmt.Sprintf(format, args...)}
}

// kindWith is the kind of problem that has a status.
func kindWith(status int) kind {
	if k, ok := others[status]; ok {
		return k
	}
	found := kinds[len(kinds)-1]
	for _, k := range kinds {
		if k.status == status {
			found = k
		}
	}
	return found
}

func typeOf(k kind) string { return docsPath + "#" + k.name }

// problem is an error as the client of a request is told it. The record keeps the error itself.
func (s *Server) problem(ctx context.Context, path string, err error) *Problem {
	record := RecordOf(ctx)
	record.Err = err
	told := new(Problem)
	if own := (*Problem)(nil); errors.As(err, &own) {
		*told = *own
	} else if errors.Is(context.Cause(ctx), errEnding) && (errors.Is(err, errEnding) || errors.Is(err, context.Canceled)) {
		*told = *refuse(http.StatusServiceUnavailable, "the server is ending; what came of it so far is kept")
	} else {
		k := kindOf(err)
		*told = Problem{Type: typeOf(k), Title: k.title, Status: k.status, Detail: k.title}
		switch {
		case !k.secret:
			told.Detail = oneLine(err.Error())
		case k.status == http.StatusServiceUnavailable:
			told.Detail = store.Condition(err)
		}
		var field *invalid.Field
		if !k.secret && errors.As(err, &field) {
			told.Field = field.Name
		}
		if field != nil && k.status == http.StatusBadRequest {
			told.Detail = withNext(told.Detail, field.Name)
		}
		if k.status == http.StatusNotFound || k.status == http.StatusConflict {
			told.Detail = stepped(told, path, err)
		}
		var refused *turnstone.RefusedError
		if errors.As(err, &refused) {
			told.Field = refused.Field
		}
		var over *budget.OverBudgetError
		if errors.As(err, &over) {
			account := NewAccount(over.Account)
			told.Account = &account
		}
	}
	if (told.Status == http.StatusServiceUnavailable || told.Status == http.StatusLocked) && !store.Lasting(err) {
		told.RetryAfter = max(told.RetryAfter, 1)
	}
	told.Instance, told.RequestID = path, record.ID
	if told.Status >= http.StatusInternalServerError {
		s.log.ErrorContext(ctx, "request", "request_id", record.ID, "path", path, "status", told.Status, "error", err)
	}
	return told
}

// oneLine is a text without its line breaks.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, "; ")
}

// writeProblem answers a request with what is wrong.
func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	told := s.problem(r.Context(), r.URL.Path, err)
	body, err := json.Marshal(told)
	if err != nil {
		panic(err) // a struct of strings and a number
	}
	w.Header().Set("Content-Type", problemType)
	told.advise(w.Header().Set)
	w.WriteHeader(told.Status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		RecordOf(r.Context()).Err = errors.Join(RecordOf(r.Context()).Err, err)
	}
}

// translated is what huma itself finds wrong with a request for an operation, in our words.
func translated(known huma.Registry, op *huma.Operation, m *huma.ErrorModel) *Problem {
	status, detail, field := m.Status, m.Detail, ""
	if e := first(m.Errors); e != nil {
		field = strings.TrimPrefix(strings.TrimPrefix(e.Location, "body."), "query.")
		field = strings.TrimPrefix(strings.TrimPrefix(field, "path."), "header.")
		detail = e.Message
		if name, ok := missing(e.Message); ok {
			field, detail = strings.TrimPrefix(strings.TrimPrefix(e.Location+"."+name, "body."), "query."), isRequired
		}
		if strings.HasPrefix(e.Message, "invalid date/time") { // with a layout of Go
			detail = "is not a time; use one such as 2006-01-02T15:04:05Z"
		}
		if legal := legalNames(known, op, e); legal != "" {
			detail += "; use " + legal
		}
	}
	switch status {
	case http.StatusRequestEntityTooLarge:
		detail = tooLarge(op).Detail
	case http.StatusInternalServerError:
		// It is only ever said of a body that broke off.
		status, detail = http.StatusBadRequest, "the body broke off; send it again"
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		status, detail = http.StatusBadRequest, remedied(detail)
	}
	if field != "" && status != http.StatusRequestEntityTooLarge {
		detail = field + ": " + detail
	}
	p := refuse(status, "%s", detail)
	p.Field = field
	return p
}

// tooLarge is what a body is refused with that an operation does not take for its size.
func tooLarge(op *huma.Operation) *Problem {
	return refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes, the most that is taken here; serve with a larger %s",
		op.MaxBodyBytes-1, op.Metadata[limitFlag])
}

// first is the error that is told, nil where there is none: a name that is not known before one that is missing, which it may
// stand in place of.
func first(list []*huma.ErrorDetail) *huma.ErrorDetail {
	var found *huma.ErrorDetail
	for _, e := range list {
		if e != nil && (found == nil || e.Message == validation.MsgUnexpectedProperty && found.Message != e.Message) {
			found = e
		}
	}
	return found
}

// missing is the property that is not there, where that is what is wrong.
func missing(message string) (name string, ok bool) {
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	name, ok = strings.CutPrefix(message, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, after)
}

// legalNames are those that stand in the place of one that is not known, empty where that is not what is wrong.
func legalNames(known huma.Registry, op *huma.Operation, e *huma.ErrorDetail) string {
	var names []string
	switch path, isBody := strings.CutPrefix(e.Location, "body."); {
	case strings.HasPrefix(e.Location, "query.") && e.Message == "unknown query parameter":
		for _, p := range op.Parameters {
			if p.In == "query" {
				names = append(names, p.Name)
			}
		}
	case isBody && e.Message == validation.MsgUnexpectedProperty:
		if within := schemaAt(known, op.RequestBody.Content["application/json"].Schema, path); within != nil {
			names = slices.Sorted(maps.Keys(within.Properties))
		}
	}
	return strings.Join(names, ", ")
}

// schemaAt is the schema of the object that a property of that path stands in, such as settings.tools[0].nam, nil where
// there is none.
func schemaAt(known huma.Registry, schema *huma.Schema, path string) *huma.Schema {
	resolve := func(s *huma.Schema) *huma.Schema {
		if s != nil && s.Ref != "" {
			return known.SchemaFromRef(s.Ref)
		}
		return s
	}
	schema = resolve(schema)
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		name, indexes, _ := strings.Cut(step, "[")
		if schema == nil {
			return nil
		}
		schema = resolve(schema.Properties[name])
		for range strings.Count(indexes, "]") {
			if schema == nil {
				return nil
			}
			schema = resolve(schema.Items)
		}
	}
	return schema
}
