package front

import (
	"bytes"
	"fmt"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
)

const (
	// maxInput is how many turns one call may begin an exchange with: what comes of it is committed at once.
	maxInput = commit.MaxTurns / 2
	// maxItems is how many parts, pictures or calls a message may have. Each takes many times the memory of its bytes.
	maxItems = maxInput
)

// weight is about how many turns messages become.
func weight(messages []message) (turns int) {
	for i := range messages {
		turns += max(1, len(messages[i].parts))
	}
	return turns
}

// fewAtEnd refuses a history that has more behind its last reply than one exchange begins with.
func fewAtEnd(messages []message) error {
	last := len(messages)
	for last > 0 && messages[last-1].role != llm.Assistant {
		last--
	}
	if n := weight(messages[last:]); n > maxInput {
		return &misfit{"messages", invalidValue, fmt.Sprintf("%d parts stand behind the last reply; send %d at most.", n, maxInput)}
	}
	return nil
}

// few refuses a list of more than a message may have of anything, before it is decoded. What is no list is not looked at.
func few(name string, raw []byte) error {
	if len(raw) == 0 || raw[0] != '[' || bytes.Count(raw, comma) < maxItems {
		return nil
	}
	n := 0
	_, err := items(raw, 1, ']', func(at int) (int, error) {
		if n++; n > maxItems {
			return 0, &misfit{name, invalidValue, fmt.Sprintf("it has more than %d items.", maxItems)}
		}
		return value(raw, at)
	})
	return err
}

var comma = []byte{','}

// fewInside holds all lists of a message against that.
func fewInside(raw []byte) error {
	if bytes.Count(raw, comma) < maxItems {
		return nil
	}
	return members(raw, func(name string, at int) (int, error) {
		end, err := value(raw, at)
		if err != nil {
			return 0, err
		}
		return end, few(name, raw[at:end])
	})
}
