// Package replay is how we move a conversation and look at it again: the session bundle and the player.
//
// A bundle is one file that holds a whole session: every turn exactly as it was written, the bytes
// its images and recordings refer to, every revision of the dialogue state, the turns its flows
// point at, its bookmarks, every version of its goals and actions, its scratch page, what it
// remembers, its digest, its traces, what its prompts are made from and its snapshots. [Write] makes one of a session
// in a store, [Verify] proves that one is whole, [Import] makes a session of one on any store, and a
// [Player] steps through a session, forwards and backwards, with state, goals, window and history as
// they were at each turn.
//
// # Format
//
// A bundle of version 4 is UTF-8 text, one JSON object a line, every line ended by a line feed, and
// the whole of it may be compressed with zstd. The first line is the manifest:
//
//	{"turnstone_bundle":4,"created_at":…,"session":{"session_id":…,"tenant":…,"user":…,"title":…,"model":…,"mode":…,
//	 "status":…,"parent":…,"fork_seq":…,"created_at":…,"last_activity":…,"head":…}}
//
// Then come the records, each an object with one member that names its kind, in this order:
//
//	{"blob":{"sha256":…,"size":…,"data":…}}             right before the first turn that refers to it
//	{"turn":{"turn_id":…,"seq":…,"role":…, …}}          every turn, by seq, from 1 and without a gap
//	{"revision":{"number":…,"after_seq":…,"at":…,"state":{…}}}     by number, rising
//	{"flow_turn":{"flow_id":…,"turn_id":…,"seq":…}}     by seq, then flow_id, then turn_id
//	{"completed_flow":{"flow_id":…,"after_seq":…}}      in the order they were reported
//	{"bookmark":{"name":…,"seq":…,"at":…}}              by name
//	{"intention":{"kind":…,"after_seq":…,"at":…,"doc":{…},"change":[…]}}   by kind, id and version, from 1 and without a gap
//	{"observation":{"id":…,"type":…, …}}                by id, those that have not expired
//	{"memory_item":{"item":{…},"user":…,"archived_at":…}}   newest first, those that have not expired
//	{"digest":{"at":…,"doc":{…}}}                       one or none
//	{"trace_part":{"turn_id":…,"part_id":…,"at":…,"body":{…}}}     by turn_id, then part_id
//	{"material":{"sha256":…,"text":…}}                  by sha256, those that settings below name
//	{"settings":{"sha256":…,"doc":{…}}}                 by sha256, those that epochs below begin with
//	{"checkpoint":{"number":…,"version":…,"after_seq":…,"at":…,"doc":{…}}}   by number and version, each from version 1 and without a gap
//	{"epoch":{"number":…,"after_seq":…,"at":…,"doc":{…}}}     by number, from 1 and without a gap
//	{"pin":{"number":…,"after_seq":…,"seq":…,"pinned":…,"at":…}}   like epochs
//	{"prompt":{"number":…,"end":…,"epoch":…,"sha256":…,"at":…,"doc":{…}}}   like epochs
//	{"breaker":{"failures":…, …}}                       one or none
//	{"snapshot":{"snapshot_id":…,"after_seq":…,"auto":…,"at":…,"doc":{…}}}   by snapshot_id
//
// The last line closes it. The sum is of all bytes of the lines before it, uncompressed:
//
//	{"end":{"records":…,"counts":{"blob":…,"turn":…, …},"sha256":…}}
//
// Version 1 ended with the bookmarks and counted turns alone, version 2 with the parts of traces, and
// version 3 had no checkpoints, breaker and snapshots; all are read like the newest. Members that a version does not know are refused, and so is everything that
// breaks a rule of the log, of goals or of what else is in it, before anything is written. A fork's
// bundle holds the turns, goals, checkpoints, epochs, prompts and snapshots it shares with its parent as its own. Exports are in
// none. docs/bundle.md says all this at length.
//
// # Memory
//
// Both directions stream: what is held is one line or page of turns, the calls that wait for a
// result, hashes of blobs, of materials and, to find one that stands twice, of ids, the ids of memory
// items that get new ones, hashes and places of checkpoints, where epochs were opened and which turns are summaries,
// all of them bounded,
// and for a compressed file a window of at most 32 MiB. A file that unpacks to more is refused, not
// unpacked. The exceptions: to be written, the traces, the pins and the snapshots of a session are read all at once.
package replay
