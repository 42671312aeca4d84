// Package bpe is exact token counting: byte pair encoding with the vocabularies of OpenAI's models,
// which are embedded, and with those that local models bring along.
//
// Text goes three ways. It is split into pieces by the rule that the vocabulary was made for,
// which is written out by hand here and never looks at a character more than a few times. A piece
// that is a token itself is done. Any other becomes one symbol per byte, and the two neighbours
// whose joint token has the lowest rank are joined until no two can be: by looking at all of them
// in a short piece, and with a queue ordered by rank in a long one, so that a megabyte without a
// space costs no more per byte than a page of prose.
//
// Text that is not valid UTF-8 is read as Go's range reads it, with U+FFFD in the place of each
// wrong byte, because that is what a model is sent.
package bpe
