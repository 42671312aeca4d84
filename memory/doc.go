// Package memory is what is remembered: what an exchange left behind that is worth keeping, how
// important it is and for how long it stays.
//
//	candidates ── Scorer ──▶ Inputs ── Weights ──▶ importance
//	                                                   │
//	   Episode ◀── quota ◀── relevance ◀── threshold ◀─┘   RetentionPolicy, by type
//
// [Select] walks that path for one exchange. It is pure and quick enough to run in every commit: what
// it compares with, [Interests] and [Recent], is made ready beforehand and kept by whoever commits.
//
// Beside the items, a session has a [Digest], folded turn by turn out of turn summaries: the rolling
// summary, the key topics and the decision log. A turn's summary is stored in the log as text, and
// the text is enough to make the digest anew.
//
// The [Manager] makes every summary there is: of a turn, the rolling one, and those of compression passes,
// which it drafts ahead in the background where a model makes them.
//
// A [Search] is compiled to the [Filter] that stores understand; [RowTerms] is what they index.
package memory
