package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// appendManifest appends the first line without its line feed. What is empty is left out.
func appendManifest(dst []byte, b Bundle) []byte {
	s := &b.Session
	dst = append(dst, `{"turnstone_bundle":`...)
	dst = appendNumber(dst, b.Version)
	dst = strictjson.AppendTime(append(dst, `,"created_at":`...), b.CreatedAt)
	dst = append(dst, `,"session":{"session_id":`...)
	dst = strictjson.AppendString(dst, s.Session)
	dst = appendText(dst, "tenant", s.Tenant)
	dst = appendText(dst, "user", s.User)
	dst = appendText(dst, "title", s.Title)
	dst = appendText(dst, "model", s.Model)
	dst = appendText(dst, "mode", s.Mode)
	dst = appendText(dst, "status", string(s.Status))
	if s.Parent != "" {
		dst = appendText(dst, "parent", s.Parent)
		dst = appendNumber(append(dst, `,"fork_seq":`...), s.ForkSeq)
	}
	dst = strictjson.AppendTime(append(dst, `,"created_at":`...), s.CreatedAt)
	dst = strictjson.AppendTime(append(dst, `,"last_activity":`...), s.LastActivity)
	dst = appendNumber(append(dst, `,"head":`...), s.Head)
	return append(dst, `}}`...)
}

// decodeManifest reads the first line. The version is looked at before anything else: what a newer
// one says in the rest of the line is not for this program to judge.
func decodeManifest(line string) (Bundle, error) {
	var b Bundle
	var err error
	if b.Version, err = decodeVersion(line); err != nil {
		return b, err
	}
	err = decodeMembers(line, intMember("turnstone_bundle", &b.Version), timeMember("created_at", &b.CreatedAt), valueMember("session", &b.Session, decodeSession))
	if err != nil {
		return b, err
	}
	if b.CreatedAt.IsZero() {
		return b, missing("created_at")
	}
	return b, checkSession(&b.Session)
}

func decodeVersion(line string) (version int64, err error) {
	err = strictjson.Object(line, func(name string, v strictjson.Raw) (err error) {
		if name == "turnstone_bundle" {
			version, err = v.Int()
		}
		return err
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("this is no session bundle: %w", err)
	case version > Version:
		return 0, &NewerVersionError{Have: version, Know: Version}
	case version < 1:
		return 0, errors.New("this is no session bundle: turnstone_bundle, the version of the format, is missing")
	}
	return version, nil
}

func decodeSession(v strictjson.Raw) (turn.SessionInfo, error) {
	var s turn.SessionInfo
	err := decodeMembers(string(v), textMember("session_id", &s.Session), textMember("tenant", &s.Tenant), textMember("user", &s.User),
		textMember("title", &s.Title), textMember("model", &s.Model), textMember("mode", &s.Mode), textMember("status", &s.Status),
		textMember("parent", &s.Parent), intMember("fork_seq", &s.ForkSeq), timeMember("created_at", &s.CreatedAt),
		timeMember("last_activity", &s.LastActivity), intMember("head", &s.Head))
	return s, err
}

func checkSession(s *turn.SessionInfo) error {
	if s.Tenant == "" {
		return missing("session.tenant")
	}
	if _, err := turn.NewKey(s.Tenant, s.Session); err != nil {
		return err
	}
	if err := s.CheckInfo(); err != nil {
		return err
	}
	switch {
	case s.Status != turn.Active && s.Status != turn.Ended:
		return fmt.Errorf("session.status: %q is neither active nor ended", s.Status)
	case s.CreatedAt.IsZero():
		return missing("session.created_at")
	case s.LastActivity.IsZero():
		return missing("session.last_activity")
	case s.Head < 0:
		return fmt.Errorf("session.head: %d is negative", s.Head)
	case s.ForkSeq < 0 || s.ForkSeq > s.Head:
		return fmt.Errorf("session.fork_seq: %d is no turn of %d", s.ForkSeq, s.Head)
	case s.Parent == "" && s.ForkSeq != 0:
		return errors.New("session.fork_seq: only a fork has one, and there is no parent")
	case s.Parent != "":
		return ids.CheckName("session.parent", s.Parent)
	}
	return nil
}

func missing(field string) error { return fmt.Errorf("%s: is missing", field) }

// appendEnd appends the last line without its line feed.
func appendEnd(dst []byte, b Bundle) []byte {
	dst = append(dst, `{"end":{"records":`...)
	dst = appendNumber(dst, b.Records)
	if b.Version == 1 {
		dst = appendNumber(append(dst, `,"turns":`...), b.Turns)
	} else {
		dst = b.Counts.append(append(dst, `,"counts":`...), b.Version)
	}
	dst = appendText(dst, "sha256", b.SHA256)
	return append(dst, `}}`...)
}

// append appends the counts of the kinds that the version knows.
func (c *Counts) append(dst []byte, version int64) []byte {
	for i, n := range [...]struct {
		kind  string
		count int64
		since int64
	}{
		{"blob", c.Blobs, 1}, {"turn", c.Turns, 1}, {"revision", c.Revisions, 1}, {"flow_turn", c.FlowTurns, 1},
		{"completed_flow", c.CompletedFlows, 1}, {"bookmark", c.Bookmarks, 1}, {"intention", c.Intentions, 2},
		{"observation", c.Observations, 2}, {"memory_item", c.MemoryItems, 2}, {"digest", c.Digests, 2}, {"trace_part", c.TraceParts, 2},
		{"material", c.Materials, 3}, {"settings", c.Settings, 3}, {"checkpoint", c.Checkpoints, 4}, {"epoch", c.Epochs, 3}, {"pin", c.Pins, 3},
		{"prompt", c.Prompts, 3}, {"breaker", c.Breakers, 4}, {"snapshot", c.Snapshots, 4},
	} {
		if n.since > version {
			continue
		}
		dst = append(dst, "{,"[min(i, 1)], '"')
		dst = append(dst, n.kind...)
		dst = appendNumber(append(dst, '"', ':'), n.count)
	}
	return append(dst, '}')
}

func decodeTime(v strictjson.Raw) (time.Time, error) {
	s, err := v.String()
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(turn.TimeFormat, s)
}
