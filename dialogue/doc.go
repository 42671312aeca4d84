// Package dialogue is what we believe: the flow stack, its revisions and the follow-up context.
//
// A [State] is a stack of flows of which at most one, the top, is active. Its operations are pure:
// they read no clock, make no ids and write nothing. What is kept of a state is a [Revision] after
// each exchange that changed it, and one [Pointer] per flow and turn, so that the state at any turn
// can be rebuilt with [At] and the rows grow with the conversation, not with its square.
//
// The mapping is one-directional: flows point at turns; turns know no flows.
//
// [LightContext] stands apart from the stack: four fields, kept for minutes, that let the next
// message say "add that" or "update it".
package dialogue
