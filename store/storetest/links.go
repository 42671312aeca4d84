package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/store"
)

// conversation is the hash of one that has one message.
func conversation(text string) chain.Hash {
	return chain.Next(chain.Hash{}, chain.Message{Role: "user", Text: text})
}

// linked is a link of a session of the world's tenant.
func (w *world) linked(text, session string, seq int64, at time.Time) chain.Link {
	return chain.Link{Tenant: w.tenant, Hash: conversation(text), Session: session, Seq: seq, At: at}
}

func (w *world) link(links ...chain.Link) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, l := range links {
			if err := tx.Chains().PutLink(w.ctx(), l); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) links(tenant, text string, limit int) (found []chain.Link) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		found, err = tx.Chains().Links(w.ctx(), tenant, conversation(text), limit)
		return err
	})
	return found
}

func testLinks(t *testing.T, w *world) {
	none := []chain.Link(nil)
	old, young, twin := w.linked("hello", "old", 2, noon), w.linked("hello", "young", 4, noon.Add(time.Second)), w.linked("hello", "twin", 4, noon.Add(time.Second))
	beside, theirs := w.linked("good day", "old", 1, noon), w.linked("hello", "old", 9, noon)
	theirs.Tenant = w.tenant + "-other"
	w.link(old, young, twin, beside, theirs)

	w.run("those of a conversation come newest first, up to a limit", func(t *testing.T) {
		same(t, "all", w.links(w.tenant, "hello", 9), []chain.Link{twin, young, old})
		same(t, "two", w.links(w.tenant, "hello", 2), []chain.Link{twin, young})
		same(t, "no room", w.links(w.tenant, "hello", 0), none)
		same(t, "another conversation", w.links(w.tenant, "good day", 9), []chain.Link{beside})
		same(t, "none", w.links(w.tenant, "farewell", 9), none)
		same(t, "another tenant", w.links(theirs.Tenant, "hello", 9), []chain.Link{theirs})
	})

	w.run("the first of many conversations that has some is found at once", func(t *testing.T) {
		linked := func(tenant string, texts ...string) (first int) {
			hashes := make([]chain.Hash, len(texts))
			for i, text := range texts {
				hashes[i] = conversation(text)
			}
			w.view(func(tx store.Tx) (err error) {
				first, err = tx.Chains().Linked(w.ctx(), tenant, hashes)
				return err
			})
			return first
		}
		same(t, "the first", linked(w.tenant, "hello", "good day"), 0)
		same(t, "a later one", linked(w.tenant, "farewell", "good day", "hello"), 1)
		same(t, "none", linked(w.tenant, "farewell", "good night"), -1)
		same(t, "nothing", linked(w.tenant), -1)
		same(t, "another tenant", linked(theirs.Tenant, "good day", "hello"), 1)
		same(t, "nobody", linked(w.tenant+"-none", "hello"), -1)
		many := make([]string, 5000)
		for i := range many {
			many[i] = strconv.Itoa(i)
		}
		same(t, "the last of many", linked(w.tenant, append(many, "hello")...), len(many))
	})

	w.run("a session has one for a conversation, the last that was put", func(t *testing.T) {
		old.Seq, old.At = 12, noon.Add(time.Hour)
		w.link(old)
		same(t, "all", w.links(w.tenant, "hello", 9), []chain.Link{old, twin, young})
	})

	w.run("those of a session are deleted from a turn on when it is forgotten", func(t *testing.T) {
		later := w.linked("hello again", "old", 13, noon)
		w.link(later)
		w.update(func(tx store.Tx) error {
			n, err := tx.Forgetting().Rewrite(w.ctx(), w.tenant, "chain_links", store.Among{Sessions: []string{"old"}}, func(row []any) (store.Verdict, error) {
				if row[3].(int64) < 12 {
					return store.Keep, nil
				}
				return store.Delete, nil
			})
			same(t, "deleted", n, 2)
			return err
		})
		same(t, "of others", w.links(w.tenant, "hello", 9), []chain.Link{twin, young})
		same(t, "from the turn on", w.links(w.tenant, "hello again", 9), none)
		same(t, "before it", w.links(w.tenant, "good day", 9), []chain.Link{beside})
		same(t, "another tenant", w.links(theirs.Tenant, "hello", 9), []chain.Link{theirs})
	})
}
