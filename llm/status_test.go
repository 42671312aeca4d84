package llm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
)

func TestRefusal(t *testing.T) {
	for _, tt := range []struct {
		name      string
		give      llm.Refusal
		kind      error
		temporary bool
		fix       string
	}{
		{"bad request", llm.Refusal{Status: 400, Said: "temperature must be less than 2"}, llm.ErrRefused, false, "complains"},
		{"unauthorised", llm.Refusal{Status: 401}, llm.ErrRefused, false, "key"},
		{"forbidden", llm.Refusal{Status: 403}, llm.ErrRefused, false, "key"},
		{"no page", llm.Refusal{Status: 404, Said: "404 page not found"}, llm.ErrRefused, false, "address"},
		{"no model", llm.Refusal{Status: 404, Said: "model 'x' not found"}, llm.ErrModelMissing, false, "name"},
		{"no model in words", llm.Refusal{Status: 400, Said: "The model `x` does not exist"}, llm.ErrModelMissing, false, "name"},
		{"too large", llm.Refusal{Status: 413}, llm.ErrContextExceeded, false, "shorten"},
		{"rate", llm.Refusal{Status: 429, RetryAfter: time.Second}, llm.ErrRateLimited, true, "wait"},
		{"rate of tokens", llm.Refusal{Status: 429, Said: "too many tokens per minute"}, llm.ErrRateLimited, true, "wait"},
		{"quota", llm.Refusal{Status: 429, Code: "insufficient_quota"}, llm.ErrRateLimited, false, "plan"},
		{"failed", llm.Refusal{Status: 500}, llm.ErrFailed, true, "log"},
		{"not implemented", llm.Refusal{Status: 501}, llm.ErrFailed, false, "log"},
		{"gateway", llm.Refusal{Status: 502}, llm.ErrFailed, true, "log"},
		{"unavailable", llm.Refusal{Status: 503}, llm.ErrFailed, true, "loading"},
		{"timeout", llm.Refusal{Status: 504}, llm.ErrFailed, true, "log"},
		{"a proxy before it", llm.Refusal{Status: 522}, llm.ErrFailed, true, "log"},
		{"overloaded", llm.Refusal{Status: 529}, llm.ErrFailed, true, "log"},
		{"slow to ask", llm.Refusal{Status: 408}, llm.ErrFailed, true, "log"},
		{"rate in a stream", llm.Refusal{Code: "tokens rate_limit_exceeded", Said: "Rate limit reached"}, llm.ErrRateLimited, true, "wait"},
		{"quota in a stream", llm.Refusal{Code: "insufficient_quota", Said: "check your plan"}, llm.ErrRateLimited, false, "plan"},
		{"in a stream", llm.Refusal{Said: "the runner died"}, llm.ErrFailed, false, "log"},
		{"moved", llm.Refusal{Status: 301}, llm.ErrRefused, false, "complains"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.give.Judge("x")
			if !errors.Is(e, tt.kind) || e.Temporary != tt.temporary || !strings.Contains(e.Fix, tt.fix) {
				t.Errorf("%v, temporary %v", e, e.Temporary)
			}
			if e.Model != "x" || e.Status != tt.give.Status || e.RetryAfter != tt.give.RetryAfter {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestRefusalOfTooLongAPrompt(t *testing.T) {
	for _, tt := range []struct {
		said            string
		prompt, context int
	}{
		{"the input length exceeds the context length", 0, 0},
		{"request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it", 9412, 8192},
		{"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 0, 0},
		{"The decoder prompt (length 5000) is longer than the context window", 0, 0},
		{"prompt is too long: 210000 tokens > 200000 maximum", 0, 0},
		{"context window of this model was exceeded", 0, 0},
		{"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 0, 0},
		{"This model's maximum prompt length is 131072 but the request contains 200000 tokens.", 0, 0},
		{"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 100 `max_new_tokens`", 0, 0},
		{"Trying to keep the first 6269 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens", 0, 0},
	} {
		for _, status := range []int{400, 500, 0} {
			e := llm.Refusal{Status: status, Said: tt.said}.Judge("x")
			if !errors.Is(e, llm.ErrContextExceeded) || e.Temporary || e.Prompt != tt.prompt || e.Context != tt.context {
				t.Errorf("%v: prompt %d, context %d", e, e.Prompt, e.Context)
			}
		}
	}
	e := llm.Refusal{Status: 400, Code: "exceed_context_size_error", Prompt: 913, Context: 512}.Judge("x")
	if !errors.Is(e, llm.ErrContextExceeded) || e.Prompt != 913 || e.Context != 512 {
		t.Errorf("%+v", e)
	}
}

func TestRefusalIsOneShortLine(t *testing.T) {
	e := llm.Refusal{Status: 400, Said: "first\n\n  second\xff " + strings.Repeat("ö", 1000)}.Judge("x")
	if strings.Contains(e.Problem, "\n") || strings.Contains(e.Problem, "\xff") || len(e.Problem) > 500 || !strings.HasPrefix(e.Problem, "status 400: first second\ufffd öö") {
		t.Errorf("%q", e.Problem)
	}
}
