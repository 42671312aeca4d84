package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/turn"
)

// MemoryItem is an item of episodic memory in a bundle. Whose it is, the bundle's session says.
type MemoryItem struct {
	memory.Episode
	User     string
	Archived time.Time // zero: it is not
}

func appendMemoryItem(dst []byte, m *MemoryItem) []byte {
	dst = m.Episode.AppendJSON(append(dst, `{"memory_item":{"item":`...))
	dst = appendText(dst, "user", m.User)
	if !m.Archived.IsZero() {
		dst = strictjson.AppendTime(append(dst, `,"archived_at":`...), m.Archived)
	}
	return append(dst, '}')
}

func decodeMemoryItem(value string) (*MemoryItem, error) {
	var m MemoryItem
	item := valueMember("item", &m.Episode, func(v strictjson.Raw) (memory.Episode, error) { return memory.DecodeEpisode(string(v)) })
	err := decodeMembers(value, item, textMember("user", &m.User), timeMember("archived_at", &m.Archived))
	if err == nil && m.ID == "" {
		err = missing("item")
	}
	return &m, err
}

// memoryItem checks the next item. The newest come first, since stores give them so.
func (c *checker) memoryItem(m *MemoryItem) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("memory_item %s: %w", m.ID, fmt.Errorf(format, args...))
	}
	if !c.trusted {
		if err := m.Check(); err != nil {
			return wrong("item.%w", err)
		}
		if err := (&turn.SessionInfo{User: m.User}).CheckInfo(); err != nil {
			return wrong("%w", err)
		}
	}
	if c.item != "" && m.ID >= c.item {
		return wrong("item.id: stands after %s, and the newest stand first", c.item)
	}
	if c.items++; c.items > c.bounds.items {
		return wrong("more than %d memory items", c.bounds.items)
	}
	c.item = strings.Clone(m.ID)
	return nil
}

// pageItems is how many memory items are read or written at once.
const pageItems = 64

// memoryItems writes what was remembered in the session itself. What a fork's parent remembered is
// the parent's.
func (e *export) memoryItems(ctx context.Context) error {
	f := memory.Filter{
		Tenant: e.info.Tenant, Segment: e.info.Segment, Archived: true, Limit: pageItems, Now: e.tx.Now(),
	}
	for {
		page, err := e.tx.Memory().Items(ctx, f)
		if err != nil {
			return fmt.Errorf("memory items: %w", err)
		}
		for _, row := range page {
			item, owner, err := memory.FromRow(row)
			if err != nil {
				return err
			}
			if err := e.enc.Encode(Record{MemoryItem: &MemoryItem{Episode: item, User: owner.User, Archived: row.Archived}}); err != nil {
				return err
			}
		}
		if len(page) < f.Limit {
			return nil
		}
		f.After = page[len(page)-1].ID
	}
}

// renaming gives items new ids, which keep their order.
type renaming struct {
	made []madeItem // the newest first
	ids  map[string]string
}

type madeItem struct {
	id string
	at time.Time
}

// note takes an item of the first reading in.
func (n *renaming) note(m *MemoryItem) {
	n.made = append(n.made, madeItem{strings.Clone(m.ID), m.Created})
}

// decide makes the new ids, once all items are known.
func (n *renaming) decide() {
	source := ids.New(nil)
	n.ids = make(map[string]string, len(n.made))
	for _, m := range slices.Backward(n.made) {
		n.ids[m.id] = source.Next(m.at)
	}
	n.made = nil
}

// of returns the new id of an item. One that is not in the bundle keeps its own.
func (n *renaming) of(id string) string {
	if to, ok := n.ids[id]; ok {
		return to
	}
	return id
}

// memoryItem collects items, which are written some at a time.
func (i *imported) memoryItem(ctx context.Context, m *MemoryItem) error {
	item := m.Episode
	item.ID = i.renamed.of(item.ID)
	item.Links.Items = slices.Clone(item.Links.Items)
	for k, id := range item.Links.Items {
		item.Links.Items[k] = i.renamed.of(id)
	}
	s := i.session
	row := item.Row(memory.Owner{Tenant: s.Tenant, Segment: s.Segment, Session: s.Session, User: m.User})
	row.Archived = m.Archived
	if i.items = append(i.items, row); len(i.items) < pageItems {
		return nil
	}
	return i.flushItems(ctx)
}

// flushItems writes the items that were collected. An item that is there already would stay as it is,
// and be missed here.
func (i *imported) flushItems(ctx context.Context) error {
	if len(i.items) == 0 {
		return nil
	}
	names := make([]string, len(i.items))
	for k := range i.items {
		names[k] = i.items[k].ID
	}
	there, err := i.tx.Memory().ItemsByID(ctx, i.session.Tenant, names)
	if err != nil {
		return fmt.Errorf("memory items: %w", err)
	}
	if len(there) > 0 {
		return i.taken("memory item " + there[0].ID)
	}
	if _, err := i.tx.Memory().InsertItems(ctx, i.items); err != nil {
		return fmt.Errorf("memory item %s and those after it: %w", names[0], err)
	}
	i.items = i.items[:0]
	return nil
}

// taken says that something of the session stands in the tenant under its id.
func (i *imported) taken(what string) error {
	return fmt.Errorf("%s is in tenant %s: %w; import the session under another id, which gives it new ones",
		what, i.session.Tenant, turn.ErrExists)
}
