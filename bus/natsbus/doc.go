// Package natsbus is the bus on NATS JetStream: daemons may live in other processes, without the
// database, and several engines may publish.
//
// One stream, TURNSTONE unless configured otherwise, holds three kinds of subjects (the first word is
// the stream's name in lower case, names are encoded as in [Token]):
//
//	turnstone.export.<tenant>.<session>   exports: the body is the StateExport as JSON
//	turnstone.done.<daemon>               what daemons did: a JSON list of bus.Completion
//	turnstone.dead.<daemon>               dead letters: a bus.Completion each, without the body
//
// Exports carry the headers Turnstone-Export and Turnstone-Turn, and Nats-Msg-Id from tenant and
// export_id, by which the server drops what is published again within [Config.Duplicates]. Each session's
// exports are published one after the other, the next when the server has the one before, so that no
// lost connection can change their order. Sessions are published side by side.
//
// An export that is larger than the server or the stream takes is replaced by a stub with the same headers, so
// that the queue and the session's order go on; so is one whose body cannot be made in several tries. See [Stub].
//
// A daemon has a durable consumer with explicit acknowledgement. JetStream itself hands redelivered
// messages out behind newer ones and spreads a consumer over all who pull from it; both would break the
// order of a session. Therefore one process at a time pulls for a daemon, under a lease in a key-value
// bucket, and who takes the lease makes the consumer anew after the last message that was acknowledged
// with all before it. A gap in what is delivered has the consumer made anew as well.
package natsbus
