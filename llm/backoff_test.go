package llm_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
)

var (
	temporary = &llm.Error{Kind: llm.ErrFailed, Temporary: true}
	permanent = &llm.Error{Kind: llm.ErrRefused}
)

// attempts is a model that fails with one error after the other, and then answers. It notes when it was asked.
type attempts struct {
	errors []error
	before []llm.Chunk // said before each error
	at     []time.Time
}

func (a *attempts) stream() iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		a.at = append(a.at, time.Now())
		if len(a.errors) == 0 {
			yield(llm.Chunk{Text: "yes", Stop: llm.StopEnd}, nil)
			return
		}
		for _, chunk := range a.before {
			if !yield(chunk, nil) {
				return
			}
		}
		err := a.errors[0]
		a.errors = a.errors[1:]
		yield(llm.Chunk{}, err)
	}
}

func collect(seq iter.Seq2[llm.Chunk, error]) (text string, failure error) {
	for chunk, err := range seq {
		text, failure = text+chunk.Text, err
	}
	return text, failure
}

func TestBackoff(t *testing.T) {
	after := func(d time.Duration) error {
		return &llm.Error{Kind: llm.ErrRateLimited, Temporary: true, RetryAfter: d}
	}
	second := llm.Backoff{Attempts: 5, First: time.Second, Most: 3 * time.Second}
	for _, tt := range []struct {
		name   string
		give   llm.Backoff
		errors []error
		before []llm.Chunk
		waits  []time.Duration // at most; at least half of it
		text   string
		err    error
	}{
		{"an answer", second, nil, nil, nil, "yes", nil},
		{"defaults", llm.Backoff{}, []error{temporary, temporary, temporary, temporary, temporary}, nil,
			[]time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second}, "", temporary},
		{"twice as long, up to the most", second, []error{temporary, temporary, temporary}, nil,
			[]time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, "yes", nil},
		{"wrapped", second, []error{errors.Join(temporary)}, nil, []time.Duration{time.Second}, "yes", nil},
		{"never again", llm.Backoff{Attempts: 1}, []error{temporary}, nil, nil, "", temporary},
		{"an error that stays", second, []error{permanent}, nil, nil, "", permanent},
		{"an error of somebody else", second, []error{context.Canceled}, nil, nil, "", context.Canceled},
		{"after the first chunk", second, []error{temporary}, []llm.Chunk{{Text: "half"}}, nil, "half", temporary},
		{"after an empty chunk too", second, []error{temporary}, []llm.Chunk{{}}, nil, "", temporary},
		{"what the server wants", second, []error{after(3 * time.Second)}, nil, []time.Duration{3 * time.Second}, "yes", nil},
		{"more than the most", second, []error{after(3*time.Second + 1)}, nil, nil, "", llm.ErrRateLimited},
		{"a first longer than the most", llm.Backoff{First: time.Hour, Most: time.Second}, []error{temporary}, nil, []time.Duration{time.Second}, "yes", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &attempts{errors: tt.errors, before: tt.before}
				text, err := collect(tt.give.Stream(t.Context(), a.stream()))
				if text != tt.text || !errors.Is(err, tt.err) {
					t.Errorf("got %q, %v, want %q, %v", text, err, tt.text, tt.err)
				}
				if len(a.at) != len(tt.waits)+1 {
					t.Fatalf("%d attempts, want %d", len(a.at), len(tt.waits)+1)
				}
				for i, most := range tt.waits {
					if waited := a.at[i+1].Sub(a.at[i]); waited > most || waited < most/2 {
						t.Errorf("wait %d: %s, want %s or down to half of it", i, waited, most)
					}
				}
			})
		})
	}
}

func TestBackoffWaitsAtLeastAsLongAsTheServerWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &attempts{errors: []error{&llm.Error{Kind: llm.ErrRateLimited, Temporary: true, RetryAfter: 9 * time.Second}}}
		begin := time.Now()
		if _, err := collect(llm.Backoff{}.Stream(t.Context(), a.stream())); err != nil || time.Since(begin) != 9*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

func TestBackoffEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		a := &attempts{errors: []error{temporary}}
		begin := time.Now()
		_, err := collect(llm.Backoff{First: time.Hour, Most: time.Hour}.Stream(ctx, a.stream()))
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, temporary) || len(a.at) != 1 {
			t.Errorf("%v after %d attempts", err, len(a.at))
		}
		if waited := time.Since(begin); waited > 0 {
			t.Errorf("it waited %s for what could not come", waited)
		}
	})
}

func TestBackoffStopsWithItsCaller(t *testing.T) {
	a := &attempts{errors: []error{temporary}, before: []llm.Chunk{{Text: "half"}}}
	for range (llm.Backoff{}).Stream(t.Context(), a.stream()) {
		break
	}
	if len(a.errors) != 1 {
		t.Error("it went on")
	}
}
