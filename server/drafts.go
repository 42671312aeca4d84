package server

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

type drafts struct{ turns []turn.Draft }

// maxTurns is how many turns a request may append. Each takes some hundred times the memory of its bytes if it has few, and
// all of them are written in one update, which everybody else who writes waits for.
const maxTurns = 10_000

var draftFields = record.Fields[drafts]{
	record.Few("turns", func(d *drafts) *[]turn.Draft { return &d.turns }, record.Codec[turn.Draft]{
		Append: func(dst []byte, d turn.Draft) []byte { return d.AppendJSON(dst) },
		Decode: func(v strictjson.Raw) (turn.Draft, error) { return turn.DecodeDraft(string(v)) },
	}, maxTurns),
}

// decodeDrafts reads the turns of a request. The key of the request is that of its turns: several have one each.
func decodeDrafts(text, key string) ([]turn.Draft, error) {
	sent, err := draftFields.Decode(text)
	if err != nil {
		return nil, err
	}
	if len(sent.turns) == 0 {
		return nil, invalid.New("turns", "are missing", "give at least one")
	}
	if key == "" {
		return sent.turns, nil
	}
	for i := range sent.turns {
		d := &sent.turns[i]
		if d.IdempotencyKey != "" {
			return nil, invalid.New(record.Indexed("turns", i)+".idempotency_key", "is given beside the header Idempotency-Key", "give one of them")
		}
		if d.IdempotencyKey = key; len(sent.turns) > 1 {
			d.IdempotencyKey = fmt.Sprintf("%s:%d", key, i)
		}
	}
	return sent.turns, nil
}
