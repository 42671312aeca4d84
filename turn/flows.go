package turn

import (
	"context"
	"fmt"
)

// CompletedFlowsOf lists the flows that finished during a session, each once, in the order they were
// first reported.
func CompletedFlowsOf(ctx context.Context, rows TurnRows, s SessionInfo) ([]CompletedFlow, error) {
	var flows []CompletedFlow
	seen := make(map[string]bool)
	for _, span := range s.Lineage(s.Head) {
		part, err := rows.CompletedFlows(ctx, s.Tenant, span)
		if err != nil {
			return nil, fmt.Errorf("completed flows of %s: %w", s.Session, err)
		}
		for _, f := range part {
			if !seen[f.ID] {
				seen[f.ID] = true
				flows = append(flows, f)
			}
		}
	}
	return flows, nil
}

// pinFlows gives a fork the flows that were reported at the fork point; see [SessionInfo.Lineage].
func pinFlows(ctx context.Context, rows TurnRows, parent, child SessionInfo) error {
	for _, span := range parent.Lineage(child.ForkSeq) {
		part, err := rows.CompletedFlows(ctx, parent.Tenant, span)
		if err != nil {
			return fmt.Errorf("completed flows of %s: %w", parent.Session, err)
		}
		for _, f := range part {
			if f.AfterSeq != child.ForkSeq {
				continue
			}
			if err := rows.InsertCompletedFlow(ctx, child.Tenant, child.Segment, f.ID, f.AfterSeq); err != nil {
				return fmt.Errorf("completed flow %s: %w", f.ID, err)
			}
		}
	}
	return nil
}
