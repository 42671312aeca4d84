// Package trace is what happened in a turn: its phases with their times, and what was decided on the way.
//
// While the turn runs a trace is only written to, through a [Recorder]. The turn commit stores what
// there is by then in the export, and publishing it makes a part of that; what happens later (what
// daemons did) is stored in parts of its own. [Join] makes one [TurnTrace] of them, [Render] shows it to
// people.
package trace
