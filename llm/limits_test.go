package llm_test

import (
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
)

func TestSilence(t *testing.T) {
	for _, test := range []struct {
		limits         llm.Limits
		without, tools time.Duration
	}{
		{llm.Limits{}, 2 * time.Minute, 15 * time.Minute},
		{llm.Limits{First: time.Hour}, 2 * time.Minute, time.Hour},
		{llm.Limits{Idle: time.Second, First: time.Hour}, time.Second, time.Second},
		{llm.Limits{Idle: -1, First: -1}, 2 * time.Minute, 15 * time.Minute},
	} {
		if without, tools := test.limits.Silence(false), test.limits.Silence(true); without != test.without || tools != test.tools {
			t.Errorf("%+v: %s, with tools %s", test.limits, without, tools)
		}
	}
}
