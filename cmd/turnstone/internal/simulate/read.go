package simulate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

// others is who speaks for everybody but the first speaker of a conversation of several.
const others = "others"

// Conversation is what is replayed.
type Conversation struct {
	// Name tells it from others in what is written about several.
	Name string
	// Format is what it was read as.
	Format history.Format
	// Entries are its turns in order, ready to be appended.
	Entries []history.Entry
}

// Read reads a conversation in any format that [history.Import] reads. In sayings of more than two speakers the
// first of them is the user, and all others speak for the agent, each with the name in front. Bad input is a
// *turn.FieldError that names the place.
func Read(ctx context.Context, name string, data []byte, f history.Format, o history.Options) (Conversation, error) {
	if f == "" || f == history.Lines {
		data = twoSpeakers(data)
	}
	c := Conversation{Name: name}
	got, err := history.Import(ctx, bytes.NewReader(data), f, o, func(e history.Entry) error {
		if e.Kind == turn.KindSummary {
			return nil // the replay makes its own, and nobody said this one
		}
		// Ids may stand in other sessions too, and the replay is one of its own.
		e.ID, e.IdempotencyKey = "", ""
		c.Entries = append(c.Entries, e)
		return nil
	})
	if err != nil {
		return Conversation{}, err
	}
	if len(c.Entries) == 0 {
		return Conversation{}, invalid.New("input", "has no turns", "give a conversation that somebody takes part in")
	}
	c.Format = got.Format
	return c, nil
}

// twoSpeakers rewrites sayings of more than two speakers as those of two. What it does not understand it leaves
// to whoever reads it next.
func twoSpeakers(data []byte) []byte {
	var lines []map[string]json.RawMessage
	var names []string
	distinct := map[string]bool{}
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, len(data)+1)
	for scanner.Scan() {
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		var line map[string]json.RawMessage
		var name string
		if json.Unmarshal(scanner.Bytes(), &line) != nil || json.Unmarshal(line["speaker"], &name) != nil || name == "" {
			return data
		}
		lines, names = append(lines, line), append(names, name)
		distinct[name] = true
	}
	if len(distinct) <= 2 {
		return data
	}
	var out bytes.Buffer
	for i, line := range lines {
		if err := attribute(line, names[i], names[0]); err != nil {
			return data
		}
		encoded, err := json.Marshal(line)
		if err != nil {
			return data
		}
		out.Write(append(encoded, '\n'))
	}
	return out.Bytes()
}

// attribute makes a line that of the user, or of the others with the name in its text.
func attribute(line map[string]json.RawMessage, name, user string) (err error) {
	if name == user {
		return nil
	}
	var text string
	if err := json.Unmarshal(line["text"], &text); err != nil {
		return fmt.Errorf("text of %s: %w", name, err)
	}
	if line["text"], err = json.Marshal(name + ": " + text); err != nil {
		return fmt.Errorf("text of %s: %w", name, err)
	}
	speaker := others
	if user == others {
		speaker += "'"
	}
	line["speaker"], err = json.Marshal(speaker)
	return err
}
