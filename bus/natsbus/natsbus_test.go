package natsbus_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/bustest"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// serve starts a real server inside the test's process, without a port.
func serve(t testing.TB) *server.Server {
	s, err := server.NewServer(&server.Options{
		JetStream: true, StoreDir: t.TempDir(), DontListen: true, NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not come up")
	}
	return s
}

func connect(t testing.TB, s *server.Server) *nats.Conn {
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// connected is a bus with a connection of its own.
type connected struct {
	*natsbus.Bus
	nc *nats.Conn
}

func (c connected) Close() error {
	defer c.nc.Close()
	return c.Bus.Close()
}

// foreign are the goroutines that a server has for a consumer.
func foreign() []goleak.Option {
	var all []goleak.Option
	for _, f := range []string{
		"(*consumer).loopAndGatherMsgs", "(*consumer).processInboundAcks", "(*consumer).processInboundNextMsgReqs",
		"(*consumerFileStore).flushLoop", "(*client).readLoop", "(*client).writeLoop",
	} {
		all = append(all, goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server."+f))
	}
	return all
}

func TestSuite(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bustest.Place {
		s := serve(t)
		st := mem.New(mem.Config{})
		return bustest.Place{
			Store: st,
			Open: func(t *testing.T, bodies bus.Bodies, rec bus.Recorder) (bus.Bus, func()) {
				nc := connect(t, s)
				b, err := natsbus.New(t.Context(), nc, bodies, rec, natsbus.Config{
					Lease: 2 * time.Second, Poll: 5 * time.Millisecond,
				})
				if err != nil {
					t.Fatal(err)
				}
				return connected{b, nc}, nc.Close
			},
			Foreign: foreign(),
		}
	})
}
