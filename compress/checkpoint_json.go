package compress

import (
	"time"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

var rangeFields = record.Fields[turn.Range]{
	record.Value("from", func(r *turn.Range) *int64 { return &r.From }, record.Int()).Always(),
	record.Value("to", func(r *turn.Range) *int64 { return &r.To }, record.Int()).Always(),
}

// levelNumber is a level as stores and bundles keep it, levelWord as it is shown.
var levelNumber = record.Codec[Level]{
	Append: func(dst []byte, l Level) []byte { return record.Int().Append(dst, int64(l)) },
	Decode: func(v strictjson.Raw) (Level, error) {
		n, err := v.Int()
		return Level(n), err
	},
}

var levelWord = record.Codec[Level]{
	Append: func(dst []byte, l Level) []byte { return record.Text[string]().Append(dst, l.String()) },
}

var (
	checkpointFields = fieldsWith(levelNumber)
	shownFields      = fieldsWith(levelWord)
)

func fieldsWith(level record.Codec[Level]) record.Fields[Checkpoint] {
	return record.Fields[Checkpoint]{
		record.Value("id", func(c *Checkpoint) *string { return &c.ID }, record.Text[string]()).Always(),
		record.Value("compression_number", func(c *Checkpoint) *int64 { return &c.Number }, record.Int()),
		record.Value("version", func(c *Checkpoint) *int64 { return &c.Version }, record.Int()),
		record.Value("level", func(c *Checkpoint) *Level { return &c.Level }, level).Always(),
		record.Inside("range", func(c *Checkpoint) *turn.Range { return &c.Range }, record.Of(rangeFields)),
		record.Value("summary", func(c *Checkpoint) *string { return &c.Summary }, record.Text[string]()),
		record.Value("created_at", func(c *Checkpoint) *time.Time { return &c.CreatedAt }, record.Time()),
		record.Value("compressed_at", func(c *Checkpoint) *time.Time { return &c.CompressedAt }, record.Time()),
		record.Value("original_tokens", func(c *Checkpoint) *int64 { return &c.OriginalTokens }, record.Int()),
		record.Value("current_tokens", func(c *Checkpoint) *int64 { return &c.CurrentTokens }, record.Int()),
		record.Value("compression_count", func(c *Checkpoint) *int64 { return &c.CompressionCount }, record.Int()),
		record.List("key_decisions", func(c *Checkpoint) *[]string { return &c.KeyDecisions }, record.Text[string]()),
		record.List("files_modified", func(c *Checkpoint) *[]string { return &c.FilesModified }, record.Text[string]()),
		record.List("next_steps", func(c *Checkpoint) *[]string { return &c.NextSteps }, record.Text[string]()),
		record.List("worth", func(c *Checkpoint) *[]turn.Range { return &c.Worth }, record.Of(rangeFields)),
		record.Value("source_hash", func(c *Checkpoint) *string { return &c.SourceHash }, record.Text[string]()),
		record.Inside("receipt", func(c *Checkpoint) *Receipt { return &c.Receipt }, record.Of(receiptFields)),
	}
}

// AppendShown appends the checkpoint of a session as people and programs are shown it: one line of JSON, with the name of its
// level.
func (c *Checkpoint) AppendShown(dst []byte, session string) []byte {
	dst = shownFields.Append(dst, c)
	dst = append(dst[:len(dst)-1], `,"session_id":`...)
	return append(strictjson.AppendString(dst, session), '}')
}

// AppendJSON appends the checkpoint as one line of JSON, as stores and bundles keep it. It must be one that Check lets pass.
func (c *Checkpoint) AppendJSON(dst []byte) []byte { return checkpointFields.Append(dst, c) }

// DecodeCheckpoint reads what AppendJSON wrote, now or in any earlier version. What is damaged or no
// checkpoint is refused with a *[FieldError].
func DecodeCheckpoint(data string) (Checkpoint, error) {
	c, err := checkpointFields.Decode(data)
	if err != nil {
		return Checkpoint{}, err
	}
	if err := c.Check(); err != nil {
		return Checkpoint{}, err
	}
	return c, nil
}
