package memory

// What one exchange may hand over to be remembered, and what one item may hold.
const (
	// MaxCandidates bounds the candidates that come with an exchange, of which more are refused, and again those of the engine's
	// own. A selection is of all of them.
	MaxCandidates = 10_000
	maxSelection  = 2 * MaxCandidates
	// MaxText bounds an item's text in bytes. A longer candidate is refused; what tools gave, which the log has whole, is
	// cut and ends with a note that says so.
	MaxText = 64 << 10
	// MaxData bounds an item's data in bytes. A candidate with more is refused; what tools gave is left out, and the item's
	// provenance says so.
	MaxData = 4 << 20
	// MaxTags bounds the tags of an item, MaxTag each of them in bytes.
	MaxTags = 32
	MaxTag  = 64
	// MaxLinks bounds the turns and the items, each, that an item links to.
	MaxLinks = 64
)

// maxName bounds ids and names in bytes, so that they always fit an index.
const maxName = 128
