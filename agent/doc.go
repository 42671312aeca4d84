// Package agent is who does the work: workers with a history of their own, the loop that asks a model and runs the
// tools it calls, and the jobs in which that happens.
//
// One exchange runs like this; the words in capitals are the states of the [Worker]:
//
//	INACTIVE ──Start──▶ WORKING ──▶ REQUESTING ──▶ RECEIVING ──a reply──▶ INACTIVE
//	    ▲              compile      the model       pieces                  (the exchange is committed)
//	    │                 ▲         is asked           │
//	    │                 │                            │ calls
//	    │                 │                            ▼
//	    │                 ├────── USING TOOL ◀───── WAITING
//	    │                 │       results, in       each call is
//	    │                 │       call order        confirmed or not
//	    │                 └──────── nothing to run ────┘
//	    │
//	    └─ from every state: cancelled ▶ INACTIVE, failed ▶ INACTIVE FAILED
//
// The [Loop] holds no lock while a model or a tool works, and no store at all: what an exchange says and does goes
// through a [Conversation], which the engine implements, and into the worker's [Container] after that. Whatever
// happens, a history is legal afterwards: every call has a result, an input that got no answer is marked, and the
// next exchange can begin.
//
// What a model gets wrong is told to the model: a call of an unknown tool, broken arguments, a tool that panics,
// hangs or returns too much each become an error result. What ends an exchange is an error of the caller: see
// [LimitError], [PanicError], [ErrNoAnswer] and the errors of package llm.
package agent
