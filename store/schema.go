package store

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
const SchemaVersion = 1

// Schema is what is kept, in the order that a dump gives it and a load needs it. What can be made
// again from it, the full-text index and its marks, is not part of it; nor is the follow-up
// context, which ends with the process or soon after.
var Schema = []Table{
	{Name: "sessions", Key: []string{"tenant", "session_id"}, Columns: []Column{
		{"tenant", Text, false}, {"session_id", Text, false}, {"segment", Int, false},
		{"user_id", Text, false}, {"title", Text, false}, {"model", Text, false}, {"mode", Text, false},
		{"status", Text, false}, {"parent_id", Text, true}, {"fork_seq", Int, false}, {"head_seq", Int, false},
		{"created_at", Int, false}, {"last_activity", Int, false},
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
}
