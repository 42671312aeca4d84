package turn

import (
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
)

// DefaultTenant is the tenant of sessions that name none.
const DefaultTenant = "default"

// Key names a session. There is no way to name one without its tenant.
type Key struct{ Tenant, Session string }

// NewKey checks both names: 1–128 letters, digits and . _ : - each. An empty tenant is
// [DefaultTenant].
func NewKey(tenant, session string) (Key, error) {
	if tenant == "" {
		tenant = DefaultTenant
	}
	if err := ids.CheckName("tenant", tenant); err != nil {
		return Key{}, err
	}
	if err := ids.CheckName("session", session); err != nil {
		return Key{}, err
	}
	return Key{Tenant: tenant, Session: session}, nil
}

// Status of a session. An ended session goes on when it is appended to.
type Status string

// The two states of a session.
const (
	Active Status = "active"
	Ended  Status = "ended"
)

// SessionInfo is what is known of a session.
type SessionInfo struct {
	Key
	User   string
	Title  string
	Model  string
	Mode   string
	Status Status
	// Parent and ForkSeq say which session this one was forked from, and after which of its turns.
	Parent       string
	ForkSeq      int64
	CreatedAt    time.Time
	LastActivity time.Time
	Head         int64 // seq of the last turn, 0 when there is none
	// Files is where files of it were written when it ended, as a JSON list of paths. It is empty where there are none.
	Files string

	// Segment is the storage this session appends to, given by the store.
	Segment int64
	// Inherited are the parent's spans up to ForkSeq, oldest first.
	Inherited []Span
}

// Spans returns where the session's turns up to seq upTo are stored, oldest first.
func (s *SessionInfo) Spans(upTo int64) []Span {
	upTo = min(upTo, s.Head)
	spans := make([]Span, 0, len(s.Inherited)+1)
	for _, in := range s.Inherited {
		if in.From > upTo {
			return spans
		}
		in.To = min(in.To, upTo)
		spans = append(spans, in)
	}
	if own := (Span{Segment: s.Segment, From: s.ForkSeq + 1, To: upTo}); !own.Empty() {
		spans = append(spans, own)
	}
	return spans
}

// Lineage is Spans for what hangs on the session's segments rather than on its turns, such as
// dialogue state: every segment is there from the turn before its first one on, since that is where
// its session began. What hangs on a fork point itself is in the fork's segment, where forking put
// it: what the parent adds there afterwards is the parent's alone. Spans may be empty.
func (s *SessionInfo) Lineage(upTo int64) []Span {
	upTo = min(upTo, s.Head)
	spans := make([]Span, 0, len(s.Inherited)+1)
	for _, in := range s.Inherited {
		if in.From-1 > upTo {
			return spans
		}
		in.To = min(in.To-1, upTo)
		spans = append(spans, in)
	}
	if s.ForkSeq <= upTo {
		spans = append(spans, Span{Segment: s.Segment, From: s.ForkSeq + 1, To: upTo})
	}
	return spans
}

// Described returns the session with those of User, Title, Model and Mode that are not empty in by.
func (s SessionInfo) Described(by SessionInfo) SessionInfo {
	for _, f := range []struct {
		to    *string
		value string
	}{{&s.User, by.User}, {&s.Title, by.Title}, {&s.Model, by.Model}, {&s.Mode, by.Mode}} {
		if f.value != "" {
			*f.to = f.value
		}
	}
	return s
}

// CheckInfo refuses descriptive fields that are too long or not text. The error names the field.
func (s *SessionInfo) CheckInfo() error {
	for _, f := range []struct{ name, value string }{
		{"user", s.User}, {"title", s.Title}, {"model", s.Model}, {"mode", s.Mode},
	} {
		if err := checkShort(f.name, f.value, false); err != nil {
			return err
		}
	}
	return nil
}

// SessionFilter selects sessions of one tenant, newest first.
type SessionFilter struct {
	Tenant string
	User   string // empty: any
	Status Status // empty: any
	// IdleSince selects sessions whose last activity is not after it. Zero: any.
	IdleSince time.Time
	// Importing selects sessions that are being imported; they are not listed otherwise.
	Importing bool
	// Before is the cursor: the Segment of the last session of the page before. Zero: from the newest.
	Before int64
	Limit  int
}

// importing begins the id of a session that is being imported in pieces. With its space nobody can give or ask for it.
const importing = "import "

// ImportKey is the key of a session until its import has come to its end. Such a session is in no list but that of
// [SessionFilter].Importing.
func ImportKey(tenant, id string) Key { return Key{Tenant: tenant, Session: importing + id} }

// Importing reports whether the session is being imported, or was when a program died.
func (k Key) Importing() bool { return strings.HasPrefix(k.Session, importing) }

// Bookmark is a named position in a session, the seed's "branch point" and the fork point of forks.
// It never moves.
type Bookmark struct {
	Name string
	Seq  int64
	At   time.Time
}
