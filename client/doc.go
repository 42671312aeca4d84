// Package client is a program's way to a Turnstone server: its HTTP API under /api/v1, with what people do most as
// methods and [Client.Do] for the rest.
//
// It knows nothing of the engine: its types are what goes over the wire. Times, ids and words mean what they mean in
// the server's documentation, which is at /api/v1/docs.
//
// What the server refuses is a *[Problem], which [errors.Is] holds against a [Kind]. A request that can safely be made
// twice is: reading, and what carries an idempotency key, which appending and committing always do. They are tried
// again when no connection is to be had, when the server is not available and when it asks to wait.
package client
