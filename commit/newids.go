package commit

import (
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/scratch"
)

// What changes create without an id gets one before they are staged, and keeps it however often they are staged, and also in the
// queue: daemons were told of it. Each change that names no id has one of these, in their order, whether or not it comes to need it.

func unnamedIn(ch cortex.Changes) (n int) {
	for i := range ch.Goals {
		if ch.Goals[i].ID == "" {
			n++
		}
	}
	for i := range ch.Actions {
		if ch.Actions[i].ID == "" {
			n++
		}
	}
	return n
}

func unnamedOn(ch scratch.Changes) (n int) {
	for i := range ch.Put {
		if ch.Put[i].ID == "" {
			n++
		}
	}
	return n
}

func (p *Pipeline) newIDs(n int) []string {
	if n == 0 {
		return nil
	}
	ids := make([]string, n)
	for i := range ids {
		ids[i] = p.config.NewID()
	}
	return ids
}

// given hands out the ids in their order, and new ones to what an older program put off without.
func (p *Pipeline) given(ids []string) func() string {
	return func() string {
		if len(ids) == 0 {
			return p.config.NewID()
		}
		id := ids[0]
		ids = ids[1:]
		return id
	}
}

// appendTexts adds a list to the JSON of changes.
func appendTexts(changes []byte, name string, list []string) []byte {
	return append(record.AppendTexts(changes[:len(changes)-1], name, list), '}')
}

// cutTexts takes the lists that appendTexts added out of the JSON of changes again.
func cutTexts(payload string, lists map[string]*[]string) (changes string, err error) {
	text := []byte{'{'}
	err = strictjson.Object(payload, func(name string, v strictjson.Raw) (err error) {
		if list := lists[name]; list != nil {
			*list, err = record.ListOf(word).Decode(v)
			return err
		}
		text = append(record.AppendName(text, name), v...)
		return nil
	})
	return string(append(text, '}')), err
}
