// Package sqlite is the embedded default store: one SQLite file, no server, no cgo.
//
// # Writing
//
// One goroutine owns the one connection that writes. Callers hand it their updates through a bounded
// queue; it folds what waits into one transaction and answers everybody after the one fsync. Where an
// update fails, the others are run again with a savepoint for each, so that it harms none of them.
// While one transaction is synced the next one is run already. See writer.go, commit.go and flight.go.
//
// What a commit adds lies side by side in the file, whoever's it is, and what would be scattered over
// it, the words of turns and items and everything else that items are looked up by, is indexed
// afterwards by one goroutine. Reading looks at the index and at what is not in it yet.
//
// # Reading
//
// Views run on a small pool of read connections, each on its own snapshot of the write-ahead log.
// They never wait for the writer, nor it for them, except at their end for the sync of what they saw.
//
// # The file
//
// The write-ahead log is copied into the file in the background, never inside a commit. After Close
// there is one file, which the sqlite3 tool can open.
package sqlite
