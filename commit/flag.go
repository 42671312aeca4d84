package commit

import (
	"context"
	"encoding/json"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// maxFlagged bounds how many items one event names.
const maxFlagged = 20

// flag announces the goals, actions and notes that a change of the exchange did not agree with, for who looks into it. It is no
// version of theirs: others who change them meanwhile would be refused for it.
func (p *Pipeline) flag(ctx context.Context, tx store.Tx, key turn.Key, turnID, exportID string, refused []Refusal) error {
	if len(refused) == 0 {
		return nil
	}
	type item struct {
		Item   string `json:"item"`
		Reason string `json:"reason"`
	}
	flagged := struct {
		ExportID string `json:"export_id"`
		Items    []item `json:"items"`
		More     int    `json:"more,omitempty"`
	}{ExportID: exportID, More: max(len(refused)-maxFlagged, 0)}
	for _, r := range refused[:min(len(refused), maxFlagged)] {
		flagged.Items = append(flagged.Items, item{storableText(r.What), storableText(clip(r.Reason, maxError))})
	}
	data, err := json.Marshal(flagged)
	if err != nil {
		return err
	}
	return p.announce(ctx, tx, event.Event{Tenant: key.Tenant, Session: key.Session, Kind: event.ItemFlagged, TurnID: turnID, Data: string(data)})
}
