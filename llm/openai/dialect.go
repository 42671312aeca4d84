package openai

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
)

// dialect is what a server understands.
type dialect struct {
	limit LimitField
	usage bool // that usage is asked for
}

const (
	usageField = "stream_options"
	// maxDialects is how often a request is said in other words.
	maxDialects = 2
)

// unknown is how servers say that they do not know a field. A value that they do not like is no such thing.
var unknown = regexp.MustCompile(`(?i)unsupported|not supported|unrecogni[sz]ed|unknown|extra (?:inputs|fields)|not permitted|not allowed|unexpected|instead`)

// after is the dialect to use after a refusal, if it is one that another dialect would not get. Limited says that
// the request had a limit.
func (d dialect) after(e *httpstream.StatusError, limited bool) (dialect, bool) {
	said := string(e.Body)
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity || !unknown.MatchString(said) {
		return d, false
	}
	switch {
	case d.usage && strings.Contains(said, usageField):
		d.usage = false
	case !limited:
		return d, false
	case d.limit == MaxCompletionTokens && strings.Contains(said, string(MaxCompletionTokens)):
		d.limit = MaxTokens
	case d.limit == MaxTokens && strings.Contains(said, string(MaxTokens)):
		d.limit = MaxCompletionTokens
	default:
		return d, false
	}
	return d, true
}
