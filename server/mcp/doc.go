// Package mcp is a Model Context Protocol server on an engine: tools that remember, recall and search, that read and set
// goals, compile the prompt, take snapshots and undo, and resources for sessions, checkpoints and traces.
//
// One [Server] speaks on standard input and output ([Server.Serve]) and over streamable HTTP ([Server.Handler]). Over
// HTTP it keeps no sessions of the protocol, so that any replica answers any request, and each request is answered with
// the engine of whoever sent it: a caller sees the conversations of its own tenant and no others.
//
// What a tool cannot do it answers with a tool error that says what to do instead, for the model that called it. Errors
// that are not the caller's go to the log, and the answer says only that.
package mcp
