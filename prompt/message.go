package prompt

// Role is who a message is from.
type Role string

// The roles of messages. A provider that has no name for one of them shows it under another.
const (
	// System is the beginning of the prompt, and later what the application says.
	System Role = "system"
	User   Role = "user"
	Agent  Role = "assistant"
	// Tool is the result of a tool call.
	Tool Role = "tool"
	// Note is what the engine says about the conversation. It informs and has no authority.
	Note Role = "note"
)

// Message is one message of a prompt in a form that every provider's list is made from. Its slices must
// not be changed.
type Message struct {
	Role Role
	// Seqs are the turns it shows, ascending; none for what the engine wrote.
	Seqs []int64
	// Parts are text and images in order. An agent's message that only calls tools has none.
	Parts []Part
	// Calls are an agent's tool calls. Their results follow at once, one message each, in the order of
	// the calls.
	Calls []ToolCall
	// CallID, Name and Failed are of a tool's message: which call it answers, the tool, and whether the
	// call ended otherwise than well.
	CallID string
	Name   string
	Failed bool
}

// Part is a text or, where its Image is set, a picture.
type Part struct {
	Text  string
	Image *Image
}

// Image names a picture by its hash; its bytes are in the tenant's blobs.
type Image struct {
	MediaType string
	Alt       string
	SHA256    string
	Size      int64
}

// ToolCall is a call as the model made it. Arguments is raw JSON, byte for byte. ID is unique within the
// prompt and made of letters, digits, underscores and hyphens.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Definition is a tool that the model may call. Schema is the JSON Schema of its arguments, an object.
type Definition struct {
	Name        string
	Description string
	Schema      string
}
