// Package cortex is what is intended: the goals of a session and the actions that are pending.
package cortex
