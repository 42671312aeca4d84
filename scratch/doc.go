// Package scratch is what was noticed: the observations of a session that wait to be dealt with.
package scratch
