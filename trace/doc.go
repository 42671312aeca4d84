// Package trace is what happened in a turn: its phases with their times, and what was decided on the way.
package trace
