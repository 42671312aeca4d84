// Package arch holds the rules of the house as tests: which package may import which, what is
// documented, what the glossary promises, and the habits that keep the code readable. Every
// rule is itself tested on made-up code, so that it is known to bite.
package arch
