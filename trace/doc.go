// Package trace is what happened in a turn: its phases with their times, and what was decided on the way.
//
// While the turn runs a trace is only written to, through a [Recorder]. The turn commit stores what
// there is by then; what happens later (the last phases, publication, what daemons did) is stored in
// parts of its own. [Join] makes one [TurnTrace] of them, [Render] shows it to people.
package trace
