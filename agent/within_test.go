package agent_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestBoundsStayWithinTheLog(t *testing.T) {
	type bounds struct{ answer, result, calls int }
	small := turn.Limits{Text: 1000, Calls: 4}
	for name, tt := range map[string]struct {
		have  bounds
		limit turn.Limits
		want  bounds
	}{
		"defaults are lowered":   {bounds{}, small, bounds{1000, 1000, 4}},
		"more is lowered":        {bounds{5000, 1001, 5}, small, bounds{1000, 1000, 4}},
		"less stays":             {bounds{999, 1, 3}, small, bounds{999, 1, 3}},
		"defaults that fit stay": {bounds{}, turn.Limits{Text: 1 << 20, Calls: 128}, bounds{}},
		"wrong ones stay":        {bounds{-1, -1, -1}, small, bounds{-1, -1, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			c := agent.Config{MaxAnswer: tt.have.answer, MaxResult: tt.have.result, MaxCalls: tt.have.calls}.Within(tt.limit)
			if got := (bounds{c.MaxAnswer, c.MaxResult, c.MaxCalls}); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
