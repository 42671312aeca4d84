package openai

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"regexp"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
)

// dialect is what a server understands.
type dialect struct {
	limit LimitField
	usage bool // that usage is asked for
	// short says that calls have ids of nine letters and digits, as Mistral wants them.
	short bool
}

const (
	usageField = "stream_options"
	// maxDialects is how often a request is said in other words.
	maxDialects = 2
)

// unknown is how servers say that they do not know a field. A value that they do not like is no such thing.
var unknown = regexp.MustCompile(`(?i)unsupported|not supported|unrecogni[sz]ed|unknown|extra (?:inputs|fields)|not permitted|not allowed|unexpected|instead`)

// shortIDs is how Mistral's servers refuse the id of a call that is not one of theirs.
var shortIDs = regexp.MustCompile(`(?i)tool.?call.?id\b.*\blength of 9\b`)

// shortID is nine letters and digits that stand for the id of a call, the same ones each time.
func shortID(id string) string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	sum := sha256.Sum256([]byte(id))
	n := binary.BigEndian.Uint64(sum[:])
	short := make([]byte, 9)
	for i := range short {
		short[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(short)
}

// after is the dialect to use after a refusal, if it is one that another dialect would not get. Limited says that
// the request had a limit.
func (d dialect) after(e *httpstream.StatusError, limited bool) (dialect, bool) {
	said := string(e.Body)
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return d, false
	}
	if !d.short && shortIDs.MatchString(said) {
		d.short = true
		return d, true
	}
	if !unknown.MatchString(said) {
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
