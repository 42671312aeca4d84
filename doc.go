// Package turnstone is the context engine for conversational agents: every turn kept exactly.
//
// An [Engine] works on a store that the caller opened; a [Session] is one conversation of it.
//
//	db, err := sqlite.Open(ctx, "agent.db", sqlite.Config{})
//	eng, err := turnstone.Open(ctx, db, turnstone.Config{})
//	defer eng.Close()
//	chat, err := eng.Session(ctx, "alice")
//	_, err = chat.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Hello!"}})
//
// With a model in the Config the engine talks itself: [Session.Say] and [Session.Stream] compile the prompt, run the
// tools that the model calls and commit the exchange.
//
// When a method that writes returns without an error, what it wrote is on disk.
package turnstone
