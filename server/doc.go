// Package server is the engine as a service: an HTTP API under /api/v1 with its OpenAPI document, beside the handlers
// for clients of model APIs and of MCP that it is given.
//
// Every route stands in the file of its noun and is registered by a function that [New] lists in one place. A route is
// an operation: a struct that its path, its query, its headers and its body are read into, and a function that is given
// the engine of the caller's tenant, or a session of it. Errors are told to clients by one table; see [Problem].
package server
