// Package extract is a summary in the conversation's own words: no model, the same bytes for the
// same input, and never a word that nobody said.
//
// A conversation is cut into units: a clause of what somebody said, a line of a tool's output, one
// value of its JSON. A unit is worth the rarity of its terms, each less the more often it is kept
// already, and more for what people ask about later: names, numbers and dates, what is quoted,
// what answers a question, what was decided, what went wrong. Units are kept by worth per token,
// best first, until the budget is spent.
//
// Kept units stand in their order under the time and the speaker they belong to, as a telegram:
// articles, intensifiers, greetings and the "I" at the beginning of a clause are left out, but
// nothing that changes the sense, and nothing of what the user said. Neighbours keep the
// punctuation between them; a semicolon says that something is missing in talk, and an ellipsis in
// a list or in what a tool printed. Where more of the budget is left than telegrams need, the best
// units are written out in full.
package extract
