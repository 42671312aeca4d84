// Package scratch is what was noticed: the observations of a session that wait to be dealt with.
//
// A [Page] is the live observations of a session as they were read. [Page.Stage] applies changes to
// it without touching it, [Write] puts what came of them into the store. The package owns expiry: an
// observation is swept a day after it last changed, and a week after it was archived, from where it
// never comes back.
//
// The session scratchpad, what each flow found out, is the observations of type [FlowInsight].
package scratch
