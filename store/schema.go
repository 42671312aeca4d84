package store

import "fmt"

// Row is one row of a table: its values in the order of the table's columns, each an int64, a
// string, a []byte or nil.
type Row struct {
	Table  string
	Values []any
}

// Table describes one table. Both SQL stores have these tables with these columns and keys, and
// storetest compares them. Tenant is the first column of every key.
type Table struct {
	Name    string
	Columns []Column
	Key     []string // primary key, or the key that orders a dump
}

// Complete returns the values of a row with nulls in the columns that were added after it was given out: a store
// loads what any earlier version dumped. An error if the number of values cannot be that of any version.
func (t *Table) Complete(values []any) ([]any, error) {
	for i := len(values); i < len(t.Columns) && t.Columns[i].Null; i++ {
		values = append(values[:i:i], nil)
	}
	if len(values) != len(t.Columns) {
		return nil, fmt.Errorf("%d values for %d columns", len(values), len(t.Columns))
	}
	return values, nil
}

// Column is one column of a table.
type Column struct {
	Name string
	Type Type
	Null bool
}

// Type is what a column holds: an integer (times are microseconds since 1970 in UTC), text or bytes.
type Type string

// The three column types.
const (
	Int   Type = "int"
	Text  Type = "text"
	Bytes Type = "bytes"
)

// SchemaVersion is the version of the schema that this program writes: how many migrations either
// SQL store has.
const SchemaVersion = 13

// Schema is what is kept, in the order that a dump gives it and a load needs it. What can be made
// again from it, the full-text index and its marks, is not part of it; nor is the follow-up
// context, which ends with the process or soon after.
var Schema = []Table{
	{Name: "sessions", Key: []string{"tenant", "session_id"}, Columns: []Column{
		{"tenant", Text, false}, {"session_id", Text, false}, {"segment", Int, false},
		{"user_id", Text, false}, {"title", Text, false}, {"model", Text, false}, {"mode", Text, false},
		{"status", Text, false}, {"parent_id", Text, true}, {"fork_seq", Int, false}, {"head_seq", Int, false},
		{"created_at", Int, false}, {"last_activity", Int, false}, {"files", Text, true},
	}},
	{Name: "spans", Key: []string{"tenant", "heir", "position"}, Columns: []Column{
		{"tenant", Text, false}, {"heir", Int, false}, {"position", Int, false},
		{"segment", Int, false}, {"from_seq", Int, false}, {"to_seq", Int, false},
	}},
	{Name: "bookmarks", Key: []string{"tenant", "session_id", "name"}, Columns: []Column{
		{"tenant", Text, false}, {"session_id", Text, false}, {"name", Text, false},
		{"seq", Int, false}, {"created_at", Int, false},
	}},
	{Name: "leases", Key: []string{"tenant", "session_id"}, Columns: []Column{
		{"tenant", Text, false}, {"session_id", Text, false}, {"token", Text, false}, {"until", Int, false},
	}},
	{Name: "turns", Key: []string{"tenant", "segment", "seq"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"seq", Int, false}, {"turn_id", Text, false},
		{"role", Text, false}, {"form", Text, false}, {"kind", Text, true}, {"content", Text, false},
		{"created_at", Int, false}, {"unit_seq", Int, true}, {"message_id", Text, true},
		{"idempotency_key", Text, true}, {"covers_from", Int, true}, {"covers_to", Int, true}, {"meta", Text, true},
	}},
	{Name: "open_calls", Key: []string{"tenant", "segment", "call_id"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"call_id", Text, false},
		{"name", Text, false}, {"unit_seq", Int, false}, {"position", Int, false},
	}},
	{Name: "completed_flows", Key: []string{"tenant", "segment", "flow_id"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"flow_id", Text, false},
		{"after_seq", Int, false}, {"position", Int, false},
	}},
	{Name: "blobs", Key: []string{"tenant", "sha256"}, Columns: []Column{
		{"tenant", Text, false}, {"sha256", Text, false}, {"size", Int, false},
		{"data", Bytes, false}, {"wanted_at", Int, false},
	}},
	{Name: "blob_refs", Key: []string{"tenant", "sha256", "segment", "seq"}, Columns: []Column{
		{"tenant", Text, false}, {"sha256", Text, false}, {"segment", Int, false}, {"seq", Int, false},
	}},
	{Name: "revisions", Key: []string{"tenant", "segment", "number"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"number", Int, false},
		{"after_seq", Int, false}, {"state", Text, false}, {"created_at", Int, false},
	}},
	{Name: "flow_turns", Key: []string{"tenant", "segment", "flow_id", "turn_id"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"flow_id", Text, false},
		{"turn_id", Text, false}, {"seq", Int, false},
	}},
	{Name: "intentions", Key: []string{"tenant", "segment", "kind", "id", "version"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"kind", Text, false}, {"id", Text, false},
		{"version", Int, false}, {"after_seq", Int, false}, {"live", Int, false},
		{"doc", Text, false}, {"change", Text, false}, {"created_at", Int, false},
	}},
	{Name: "observations", Key: []string{"tenant", "segment", "observation_id"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"observation_id", Text, false}, {"type", Text, false},
		{"status", Text, false}, {"doc", Text, false}, {"changed_at", Int, false}, {"expires_at", Int, false},
	}},
	{Name: "memory_items", Key: []string{"tenant", "item_id"}, Columns: []Column{
		{"tenant", Text, false}, {"item_id", Text, false}, {"segment", Int, false}, {"session_id", Text, false},
		{"user_id", Text, false}, {"type", Text, false}, {"importance", Int, false}, {"created_at", Int, false},
		{"expires_at", Int, true}, {"archived_at", Int, true}, {"text", Text, false}, {"data", Text, true},
		{"about", Text, false},
	}},
	{Name: "digests", Key: []string{"tenant", "segment"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"through_seq", Int, false},
		{"doc", Text, false}, {"changed_at", Int, false},
	}},
	{Name: "exports", Key: []string{"tenant", "export_id"}, Columns: []Column{
		{"tenant", Text, false}, {"export_id", Text, false}, {"session_id", Text, false}, {"segment", Int, false},
		{"turn_id", Text, false}, {"first_seq", Int, false}, {"last_seq", Int, false}, {"status", Text, false},
		{"body", Text, false}, {"created_at", Int, false}, {"sent_number", Int, true}, {"sent_at", Int, true},
	}},
	{Name: "deferrals", Key: []string{"tenant", "export_id", "target"}, Columns: []Column{
		{"tenant", Text, false}, {"export_id", Text, false}, {"target", Text, false}, {"session_id", Text, false},
		{"payload", Text, false}, {"tries", Int, false}, {"next_at", Int, false}, {"error", Text, false},
		{"created_at", Int, false}, {"escalated_at", Int, true},
	}},
	{Name: "events", Key: []string{"tenant", "event_id"}, Columns: []Column{
		{"tenant", Text, false}, {"event_id", Text, false}, {"session_id", Text, false}, {"kind", Text, false},
		{"turn_id", Text, true}, {"data", Text, false}, {"created_at", Int, false}, {"place", Int, true},
	}},
	{Name: "daemons", Key: []string{"tenant", "name"}, Columns: []Column{
		{"tenant", Text, false}, {"name", Text, false}, {"through", Int, false},
		{"holder", Text, true}, {"until", Int, true},
	}},
	{Name: "dead_letters", Key: []string{"tenant", "daemon", "export_id"}, Columns: []Column{
		{"tenant", Text, false}, {"daemon", Text, false}, {"export_id", Text, false}, {"session_id", Text, false},
		{"turn_id", Text, false}, {"tries", Int, false}, {"error", Text, false}, {"created_at", Int, false},
	}},
	{Name: "trace_parts", Key: []string{"tenant", "turn_id", "part_id"}, Columns: []Column{
		{"tenant", Text, false}, {"turn_id", Text, false}, {"part_id", Text, false}, {"segment", Int, false},
		{"created_at", Int, false}, {"body", Text, false},
	}},
	{Name: "epochs", Key: []string{"tenant", "segment", "number"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"number", Int, false},
		{"after_seq", Int, false}, {"doc", Text, false}, {"created_at", Int, false},
	}},
	{Name: "prompts", Key: []string{"tenant", "segment", "number"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"number", Int, false}, {"end_seq", Int, false},
		{"epoch", Int, false}, {"doc", Text, false}, {"sha256", Text, false}, {"created_at", Int, false},
	}},
	{Name: "pins", Key: []string{"tenant", "segment", "number"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"number", Int, false},
		{"after_seq", Int, false}, {"seq", Int, false}, {"pinned", Int, false}, {"created_at", Int, false},
	}},
	{Name: "materials", Key: []string{"tenant", "sha256"}, Columns: []Column{
		{"tenant", Text, false}, {"sha256", Text, false}, {"text", Text, false}, {"created_at", Int, false},
	}},
	{Name: "calibrations", Key: []string{"tenant", "model"}, Columns: []Column{
		{"tenant", Text, false}, {"model", Text, false}, {"doc", Text, false}, {"changed_at", Int, false},
	}},
	{Name: "checkpoints", Key: []string{"tenant", "segment", "number", "version"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"number", Int, false}, {"version", Int, false},
		{"after_seq", Int, false}, {"doc", Text, false}, {"created_at", Int, false},
	}},
	{Name: "breakers", Key: []string{"tenant", "segment"}, Columns: []Column{
		{"tenant", Text, false}, {"segment", Int, false}, {"doc", Text, false}, {"changed_at", Int, false},
	}},
	{Name: "snapshots", Key: []string{"tenant", "snapshot_id"}, Columns: []Column{
		{"tenant", Text, false}, {"snapshot_id", Text, false}, {"segment", Int, false},
		{"after_seq", Int, false}, {"doc", Text, false}, {"created_at", Int, false}, {"auto", Int, true},
	}},
	{Name: "drafts", Key: []string{"tenant", "session_id"}, Columns: []Column{
		{"tenant", Text, false}, {"session_id", Text, false}, {"export_id", Text, false}, {"turn_id", Text, false},
		{"reply_id", Text, false}, {"content", Text, false}, {"model", Text, false},
		{"started_at", Int, false}, {"changed_at", Int, false},
	}},
	{Name: "access_keys", Key: []string{"tenant", "key_id"}, Columns: []Column{
		{"tenant", Text, false}, {"key_id", Text, false}, {"name", Text, false}, {"scopes", Text, false},
		{"hash", Bytes, false}, {"created_at", Int, false}, {"revoked_at", Int, true},
	}},
	{Name: "chain_links", Key: []string{"tenant", "hash", "session_id"}, Columns: []Column{
		{"tenant", Text, false}, {"hash", Text, false}, {"session_id", Text, false}, {"seq", Int, false}, {"created_at", Int, false},
	}},
	{Name: "buses", Key: []string{"tenant"}, Columns: []Column{
		{"tenant", Text, false}, {"name", Text, false},
	}},
}
