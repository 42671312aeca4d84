// Package simulate is a conversation replayed through an engine of its own, turn by turn, to see what its prompts
// would have cost and what of it would still be in the last one.
//
// Before everything that the agent says, and once more at the end, a prompt is compiled: these are the calls of
// the model. The same calls are made with other ways to fit a conversation, each held to the same room, so that
// the figures stand side by side. Nothing is written anywhere.
package simulate
