// Package scratch is what was noticed: the observations of a session that wait to be dealt with.
//
// A [Page] is the live observations of a session as they were read. [Page.Stage] applies changes to
// it without touching it, [Write] puts what came of them into the store. The package owns expiry: an
// observation is archived a day after it last changed, if nobody did so before, from where it never comes
// back, and deleted a week later. What is over is over at its time, not when [Sweep] comes by.
//
// The session scratchpad, what each flow found out, is the observations of type [FlowInsight].
package scratch
