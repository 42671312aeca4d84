// Package postgres is the store on a PostgreSQL database that several processes share.
//
// An update is a READ COMMITTED transaction that takes the lock of the session row it writes to; a
// view is a REPEATABLE READ transaction, one snapshot for all its statements. Round trips are what
// an append costs here, so a statement whose answer nobody waits for is queued and travels with
// the next one: BEGIN with the first statement, an append's writes with its COMMIT.
//
// A savepoint ends with what it queued sent, so that an error is its own: inside one, a version that
// is stale or an export that is there may be the error of the savepoint and not of the call.
//
// Acknowledged means on disk: connections run with synchronous_commit = on, whatever the role or
// the database says. A synchronous_commit in the URL is kept unless it is off, which is refused. The
// server's own fsync setting must be on, as it is by default; no client can see to that.
//
// What is forgotten is gone from every query and every dump once the update is made. The old versions of its rows are
// dead then, and their bytes stay in the server's files until VACUUM (autovacuum runs it) has made room of them and
// something was written there; its write-ahead log, its replicas and its backups keep theirs as long as they are
// set up to. VACUUM FULL, or pg_repack, writes a table anew at once.
//
// A pooler in between must hand startup parameters on and keep a transaction on one server
// connection.
package postgres
