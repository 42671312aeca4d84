// Package prompt is what the model sees: a projection of the log that changes only at its end.
//
//	system prompt · goal block · covered turns · recent turns            · late block
//	└──────────── frozen by the epoch ───────┘   └ append-only, by units ┘  └ made for one call ┘
//
// An [Epoch] freezes the beginning of the prompt and says where the recent turns start; while it lasts,
// compiling again only adds messages at the end. Whatever changes in between, such as the progress of the
// goal, is said in the late block and folded in when the next epoch opens. Epochs are never changed, and a
// [Call] keeps which epoch a prompt was compiled in, where it ended and its late block, so that the bytes
// the model saw can be made again from the log at any time.
package prompt
