package turnstone_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// sleeper replies in two parts, between which its machine sleeps.
type sleeper struct{ sleep func() }

func (sleeper) Name() string { return "sleeper" }

func (s sleeper) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if !yield(llm.Chunk{Text: "One "}, nil) {
			return
		}
		s.sleep()
		yield(llm.Chunk{Text: "two.", Stop: llm.StopEnd}, nil)
	}
}

// A laptop that is closed in the middle of a reply and opened an hour later goes on with it: nobody took the lease.
func TestAReplyGoesOnAfterItsMachineSlept(t *testing.T) {
	for name, awake := range map[string]time.Duration{"at once": 0, "a while later": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var slept atomic.Int64
				clock := func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
				eng := open(t, mem.New(mem.Config{Clock: clock}), turnstone.Config{
					ModelName: "sleeper", Clock: clock,
					Model: sleeper{func() {
						slept.Store(int64(time.Hour))
						time.Sleep(awake)
					}},
				})
				reply, err := session(t, eng, "s").Say(t.Context(), "Count.")
				if err != nil || reply.Text != "One two." || reply.Commit.Status != commit.Complete {
					t.Errorf("%q, %s, %v", reply.Text, reply.Commit.Status, err)
				}
			})
		})
	}
}
