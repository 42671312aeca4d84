package server

import (
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

// decodeDrafts reads the turns of a request. Those of a request that has a key have none of their own.
func decodeDrafts(text, key string) ([]turn.Draft, error) {
	sent, err := draftFields.Decode(text)
	if err != nil {
		return nil, err
	}
	if len(sent.turns) == 0 {
		return nil, invalid.New("turns", "are missing", "give at least one")
	}
	for i := range sent.turns {
		if key != "" && sent.turns[i].IdempotencyKey != "" {
			return nil, invalid.New(record.Indexed("turns", i)+".idempotency_key", "is given beside the header Idempotency-Key", "give one of them")
		}
	}
	return sent.turns, nil
}
