// Package commit is how an exchange becomes durable: six phases from the last word said to memory,
// goals, notes and the export that daemons receive.
//
//	exchange ──▶ 1 complete ──▶ 2 reflect ──▶ 3 select ──▶ 4 persist ──▶ 5 notify ──▶ 6 finalize
//	             Responder      Evaluator     importance    ONE update    relay        trace closed
//	             the reply      Reflector     retention     ┌───────────┐ wakes up     complete
//	             is ready       goals and     quota         │ history   │
//	                            notes staged  StateExport   │ memory    │
//	             └────────── no store ───────────────────┘  │ cortex    │  a savepoint each
//	                                                        │ scratch   │
//	                                                        │ export    │  = the outbox row
//	                                                        │ trace     │
//	                                                        └───────────┘
//
// # States
//
// running → completing → ready_for_commit → committing → complete. An exchange whose reply was cut short
// ends as interrupted, one that could not be answered as failed, and complete_with_errors says that
// something had to be put off or left out.
//
// # Values first
//
// Phases 1 to 3 take values and give values: no store is touched, and what phase 4 writes is fixed
// before its update begins. Only what must be seen under the session's lock is done inside it: if
// somebody else changed the goals or the scratch page in the meantime, the changes are staged again
// on what is there now, and the digest is folded onto the one that is there.
//
// # One update, a savepoint each
//
// The four targets live in one database, so they are written by one update with one fsync. A
// target that cannot be written goes back to its savepoint and leaves a deferral in the same
// update; the others are not touched by it. A deferral is tried again after 10, 20 and 40 ms, each time in an
// update of its own (nothing ever sleeps inside the writer), then by the same worker with growing
// delays, and is announced as commit-escalated after its last try, or at once where no try would ever write it. While something of a target is put
// off, what later exchanges of the session have for it is put off behind it, so that the order is kept. Only turns that
// come with a change of belief, or with something else that is written in the same update, are never put off.
//
// # Said once
//
// The outbox row does not repeat what stands in the log and in memory: it names the turns and items,
// and [Messages] puts the whole StateExport together when it is published or shown. What is
// forgotten there is therefore forgotten in every export that is still to be sent. Only a target that was put off
// has its part written out in the export itself.
//
// The first phases of the trace stand in the outbox row too, and the rest of it in memory, until the note
// of the publication stores both; [Traces] finds them wherever they are.
//
// # Exactly once
//
// An export has one id from the first try on. Where it is in the outbox everything else of the
// exchange is there too, so a commit that finds it there returns what was committed and
// writes nothing.
package commit
