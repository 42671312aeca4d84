package llm

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Refusal is an answer of a server that is not the one that was hoped for, as clients read it.
type Refusal struct {
	// Status is the HTTP status, or the code in an error that came in the middle of a stream; 0 for none.
	Status int
	// Code and Said are the server's word for it and its sentence.
	Code, Said string
	RetryAfter time.Duration
	// Prompt and Context are what it counted, where it says so.
	Prompt, Context int
}

// What statuses mean: HTTP's numbers, without HTTP.
const (
	statusUnauthorized = 401
	statusForbidden    = 403
	statusNotFound     = 404
	statusSlow         = 408
	statusTooLarge     = 413
	statusTooMany      = 429
	statusServer       = 500
	statusBadGateway   = 502
	statusUnavailable  = 503
	statusTimeout      = 504
	statusFirstProxy   = 520 // 520 to 529 are of proxies before a server, and of servers that have too much to do
	statusLastProxy    = 529
	statusLastServer   = 599
)

// maxSaid bounds what is told of a server's words.
const maxSaid = 400

var (
	// tooLong are how servers say that a prompt does not fit. Each has its own words, and says them with
	// status 400, 413, 500 or none.
	tooLong = regexp.MustCompile(`(?i)exceed_context_size|context_length_exceeded|exceed\w*\s[^.]{0,60}\bcontext\b|` +
		`context (?:length|size|window)[^.]{0,40}exceed|maximum context length|longer than the context|` +
		`prompt is too long|input is too long|too many (?:input )?tokens|(?:greater|larger) than the context|n_ctx|` +
		`token count[^.]{0,40} exceeds|maximum prompt length|max_new_tokens\W{1,3}must be <=|context the overflows|context overflow`)
	counts     = regexp.MustCompile(`(?i)\b(\d{2,9})\s+tokens?\b[^0-9]{0,60}?(?:context|window)\D{0,30}?(\d{2,9})`)
	noModel    = regexp.MustCompile(`(?i)model.*(?:not found|does not exist|no longer available)|no such model|model_not_found`)
	noRate     = regexp.MustCompile(`(?i)rate_limit|insufficient_quota`)
	noQuota    = regexp.MustCompile(`(?i)insufficient_quota|billing`)
	whitespace = regexp.MustCompile(`\s+`)
)

// Judge makes an error of the refusal. The fix is a client's to put better where it knows more.
func (r Refusal) Judge(model string) *Error {
	e := &Error{
		Kind: ErrRefused, Model: model, Status: r.Status, RetryAfter: r.RetryAfter, Problem: r.problem(),
		Fix: "change what the server complains of",
	}
	said := r.Code + " " + r.Said
	// In the middle of a stream there is no status, only the server's word.
	tooMany := r.Status == statusTooMany || r.Status == 0 && noRate.MatchString(r.Code)
	switch {
	case !tooMany && (r.Status == statusTooLarge || r.Prompt > 0 || tooLong.MatchString(said)):
		e.Kind, e.Fix = ErrContextExceeded, "shorten the prompt, or use a larger context"
		e.Prompt, e.Context = r.Prompt, r.Context
		if found := counts.FindStringSubmatch(r.Said); found != nil && e.Prompt == 0 {
			e.Prompt, e.Context = number(found[1]), number(found[2])
		}
	case tooMany:
		e.Kind, e.Fix, e.Temporary = ErrRateLimited, "wait and try again", true
		if noQuota.MatchString(said) {
			e.Fix, e.Temporary = "look at the account's plan and its limits", false
		}
	case noModel.MatchString(said):
		e.Kind, e.Fix = ErrModelMissing, "check the model's name"
	case r.Status == statusUnauthorized || r.Status == statusForbidden:
		e.Fix = "check the key, and that it may use this model"
	case r.Status == statusNotFound:
		e.Fix = "check the server's address: this path is not one of its"
	case r.Status == 0 || r.Status == statusSlow || r.Status >= statusServer && r.Status <= statusLastServer:
		e.Kind, e.Fix = ErrFailed, "try again; if it stays so, look into the server's log"
		e.Temporary = r.Status == statusSlow || r.Status == statusServer || r.Status >= statusBadGateway && r.Status <= statusTimeout ||
			r.Status >= statusFirstProxy && r.Status <= statusLastProxy
		if r.Status == statusUnavailable {
			e.Fix = "it is busy or still loading the model: try again in a moment"
		}
	}
	return e
}

// problem is what the server said, on one line of bounded length.
func (r Refusal) problem() string {
	said := strings.TrimSpace(whitespace.ReplaceAllString(strings.ToValidUTF8(r.Said, "\ufffd"), " "))
	if len(said) > maxSaid {
		said = strings.ToValidUTF8(said[:maxSaid], "") + " […]"
	}
	switch {
	case r.Status == 0:
		return said
	case said == "":
		return "status " + strconv.Itoa(r.Status)
	}
	return "status " + strconv.Itoa(r.Status) + ": " + said
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
