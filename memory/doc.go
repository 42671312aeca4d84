// Package memory is what is remembered: what an exchange left behind that is worth keeping, how
// important it is and for how long it stays.
package memory
