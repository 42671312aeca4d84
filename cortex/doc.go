// Package cortex is what is intended: the goals of a session and the actions that are pending.
//
// A [State] is the goals and actions of a session as they were read. [State.Stage] applies changes
// to it without touching it: what is legal becomes new versions, what is not is refused with the
// reason, one change at a time. [Write] adds the versions to the store. Versions are never
// overwritten, so that they are the audit ([History]) and a fork finds what was true at its fork
// point ([Fork]).
//
// The package owns two rules: nothing changes its status but along its machine, and a locked decision
// stays as it is for as long as its goal does. [ParseMarkers] finds what an agent says about its goals in
// the midst of a reply.
package cortex
