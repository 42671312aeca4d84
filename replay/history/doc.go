// Package history is how whole conversations go out to, and come in from, the formats of others.
//
// [Export] writes a conversation, turn by turn, and [Import] reads one and hands out drafts in the
// order in which they can be appended. Both say in a [Report] what the other side has no place for:
// nothing is lost silently. What is imported is legal: every draft passes [turn.Draft.Seal], every
// result closes a call that is open, and no call is left open at the end.
//
// # Formats
//
//	session    one JSON document with messages and toolCalls; in and out, lossless
//	lines      JSON Lines: turns as `history --json` writes them (lossless), {"speaker","text"} or messages
//	openai     the messages of chat completions: an array, {"messages":[…]} or a message a line
//	anthropic  {"system":…,"messages":[…]} with blocks, or a bare array
//	tau        a list of {"task_id","trial","traj":[…]}, of which one is read; in only
//	markdown   for people; out only
//
// What goes out as the messages of openai and anthropic is what was said and done: summaries are left out, and
// reported. The other formats have them, marked as what they are.
//
// The session document has the members sessionId, startTime, lastActivity, model, provider, messages
// (role, parts, timestamp), toolCalls (id, name, args, result.llmContent, timestamp) and metadata
// (tokenCount, compressionCount). Four members are ours and may be ignored by other readers: in the
// document "turnstone" (the version of these members), "title" and "user", and in each message
// "turnstone" (turn_id, seq, form, kind, message_id, idempotency_key, covers, meta, and the content
// where the parts do not hold all of it). Every turn is a message, tool results with the role
// "tool", so that a document with these members is read from its messages alone; toolCalls repeat
// the calls for other readers. A document without them is put together from both lists by time.
//
// # Round trips
//
// Lossless is said of turns: a session document or lines that go out and come in again give the same turns, with
// their ids, times and bytes; a call that had no result by then gets a cancelled one, and a turn that was forgotten
// becomes a text that says so. What stands in the [Header]
// comes back to whoever imports, and a log keeps of it the session, title, model, user and start. The rest is told
// anew by what is there when it is exported: seqs count from 1 again, lastActivity is the time of the last turn,
// provider the one of the model's profile, and tokenCount and compressionCount are of the session's last prompt,
// so that both are 0 until an imported session has had its first one. Goals, memory, pins and notes are no part of
// a history.
//
// # Messages
//
// The readers of messages take what any of the providers writes, whatever format is named. Each part
// of a message is a turn of its own, and all of them share a message_id. A call that has no result
// when the assistant speaks again, or at the end, gets a synthetic cancelled one; a result of no call
// stays as a text of the system. A result that is the text of a JSON object or array is kept as that
// JSON, any other text as a JSON string. So is the input of a custom tool call. A recording is speech of the
// user.
//
// Members that have no place in a turn are reported, as is a second content beside the first, unless both say the
// same. Only what tells a server how to work is passed over: the cache_control of a part, the detail of an image.
//
// Two named speakers are read as user and agent, in the order in which they first speak. A third is an
// error: nobody can know whose side they are on.
package history
