// Package compress is how a conversation fits: checkpoints stand for ranges of turns that left the
// prompt, each with a summary that was held against the turns it stands for.
//
//	plan → summarise → verify → repair once → patch → or the extractive summary, which always works
//
// Everything here is pure: no store, no clock and no ids of its own. The engine takes the turns out of
// the log, runs a pass outside of any transaction and stores what came of it. A [Checkpoint] only
// ever shrinks: an older one is made again from the original turns, never from its summary alone.
package compress
