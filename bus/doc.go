// Package bus is the socket that queues plug into: exports leave the outbox through a relay and reach
// every daemon, at least once and in order per session.
//
//	outbox ──▶ Relay ──▶ Bus.Publish ──▶ the bus keeps it ──▶ Consumer ──▶ Handler
//	  ▲                                                          │  a line per session,
//	  └──── noted as published, then Bus.Announce                │  retries, dead letters
//	                                                             ▼
//	                                        Completion ──▶ Recorder ──▶ trace
//
// A [Relay] hands what waits in a store's outbox to a [Bus]. The store keeps which bus that is, so that
// relays of others, in other processes, leave it alone. Two buses implement the socket: bus/inproc, where
// the noted export is itself the message, and bus/natsbus on NATS JetStream; bus/bustest holds both to
// it. What a daemon sees of a bus is the same on both, because both run handlers through the same
// [Consumer].
package bus
