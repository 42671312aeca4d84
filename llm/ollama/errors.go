package ollama

import (
	"errors"
	"io"
	"strconv"

	"github.com/turnstone-dev/turnstone/llm"
)

// ErrNotFound says that the server does not have the model. It is [llm.ErrModelMissing].
var ErrNotFound = llm.ErrModelMissing

var errTooLong = errors.New("the answer does not end")

// AnswerError says that a server's answer about a model cannot be used, and what to do. Counting goes on
// without it: with a calibrated vocabulary.
type AnswerError struct {
	Endpoint string // /api/show
	Model    string // empty where the answer is not about one
	Status   int    // of an answer that is not 200, otherwise 0
	Problem  string
	Fix      string
	Err      error // the cause, where there is one
}

func (e *AnswerError) Error() string {
	text := "answer of " + e.Endpoint
	if e.Model != "" {
		text += " about " + strconv.Quote(e.Model)
	}
	text += ": " + e.Problem
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

func (e *AnswerError) Unwrap() error { return e.Err }

// answerError makes an *AnswerError of what went wrong while an answer was read.
func answerError(endpoint, model string, err error) error {
	var made *AnswerError
	if errors.As(err, &made) {
		made.Endpoint, made.Model = endpoint, model
		return made
	}
	e := &AnswerError{Endpoint: endpoint, Model: model, Problem: err.Error(), Err: err}
	switch {
	case errors.Is(err, errTooLong):
		e.Fix = "this is no answer of an Ollama server: check the address"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Problem = "it ends in the middle"
		e.Fix = "try again; if it stays so, look into the server's log"
	case errors.Is(err, errNotJSON):
		e.Fix = "check that the address is that of an Ollama server"
	}
	return e
}

// unlike says that a field of an answer is not what it should be.
func unlike(field, problem string) error {
	return &AnswerError{
		Problem: field + ": " + problem,
		Fix:     "update Ollama, or pull the model again",
	}
}
