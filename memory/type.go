package memory

// Type is what an item is, and decides how long it is kept.
type Type string

// The types of items. The seed's word for a tool result is tool_execution.
const (
	UserData    Type = "user_data"
	ToolResult  Type = "tool_execution"
	Observation Type = "observation"
	Error       Type = "error"
	ScratchItem Type = "scratch_item"
	Event       Type = "event"
)
