// Package observe is what an operator sees of a server: metrics for Prometheus, whether it lives and is ready, a log of
// requests, OpenTelemetry spans and profiles.
//
//	requests ──▶ Middleware ──▶ the server        counted, timed, logged, a span each
//	models   ──▶ Model                            tokens, time to the first token, a span with GenAI attributes
//	engine   ──▶ Committed, Watch                 exchanges, commits, passes, how far daemons are behind
//
// Nothing of it holds what was said: neither keys nor bodies nor values of queries are logged, counted or traced.
package observe
