// Package turn is what was said: the exact, append-only log of a conversation.
//
// A [Turn] is one contribution of one role. Turns of a session are numbered by seq, gapless from 1,
// and seq is the only order there is. A tool call and its results are one unit from the day they
// are written: no view shows one without the other.
//
// The package holds the rules and no storage: [Draft.Seal] checks and encodes a turn before any
// transaction, [Append] and [History] and [Query] say in which steps a log is written and read, and
// the Rows interfaces name the few primitives that a store must offer for them.
package turn
