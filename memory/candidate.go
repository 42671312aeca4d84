package memory

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Source is who an item comes from. It decides how far it is trusted; see [Rules].
type Source string

// The sources there are. What names none is trusted like a system; any other is refused where a candidate comes in, since a
// slip of the pen would change how far it is trusted and nobody would see it. Items that have another stay readable.
const (
	FromUser   Source = "user"
	FromAgent  Source = "agent"
	FromTool   Source = "tool"
	FromSystem Source = "system"
	FromDaemon Source = "daemon"
)

// Candidate is something an exchange left behind that may be worth remembering.
type Candidate struct {
	// Type decides threshold and retention. One that the policies do not name is stored as an
	// [Event] that is tagged with it or, where no tag has room for it, notes it.
	Type Type
	Text string // what it says; at most [MaxText]
	Data string // raw JSON, kept byte for byte; may be empty; at most [MaxData]
	// DataChecked says that text and data come out of the log: Data is known to be JSON and need not
	// be read again, text past [MaxText] is cut and data past [MaxData] left out.
	DataChecked bool

	Tags   []string
	Links  Links
	Source Source
	// Given replaces what a [Scorer] would say.
	Given Given
}

// Given are inputs of the importance that whoever made a candidate knows better; nil: not given.
type Given struct {
	Goals, User, Confidence, Novelty, Actionability *float64
}

func (g *Given) array() [5]*float64 {
	return [5]*float64{g.Goals, g.User, g.Confidence, g.Novelty, g.Actionability}
}

func (g *Given) set(i int, f float64) {
	fields := [5]**float64{&g.Goals, &g.User, &g.Confidence, &g.Novelty, &g.Actionability}
	*fields[i] = &f
}

// over returns the inputs with those that are given in place of theirs.
func (g *Given) over(in Inputs) Inputs {
	if *g == (Given{}) {
		return in
	}
	a := in.array()
	for i, f := range g.array() {
		if f != nil {
			a[i] = *f
		}
	}
	return inputsOf(a)
}

// Links are what an item is about, by id.
type Links struct {
	Turns []string
	Items []string
}

// CheckNew refuses, besides what [Candidate.Check] does, what is legal only in an item that was stored before: a text in
// which nothing is to be seen, and a source that there is not. It also refuses what is too long and stands nowhere else.
func (c *Candidate) CheckNew() error {
	if !c.DataChecked {
		if err := checkSize("text", c.Text, MaxText); err != nil {
			return err
		}
		if err := checkSize("data", c.Data, MaxData); err != nil {
			return err
		}
	}
	if err := c.Check(); err != nil {
		return err
	}
	if c.Text != "" && blank(c.Text) {
		return fieldErrorf("text", "say something, or leave it out and give data", "is blank")
	}
	switch c.Source {
	case "", FromUser, FromAgent, FromTool, FromSystem, FromDaemon:
		return nil
	}
	return fieldErrorf("source", "use user, agent, tool, system or daemon, or leave it out", "%q is none", c.Source)
}

// blank reports whether a text shows nothing: spaces, line ends, characters of no width.
func blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// Check refuses a candidate that breaks a rule, with a *[FieldError] that names the field: text and
// tags must be UTF-8 without NUL, data must be JSON, names, tags and links keep their bounds, given
// inputs are from 0 to 1. Text and data that are too long are no error; see [MaxText] and [MaxData].
func (c *Candidate) Check() error {
	switch {
	case strings.TrimSpace(string(c.Type)) == "":
		return fieldErrorf("type", "use user_data, tool_execution, observation, error, scratch_item or event", "is empty")
	case c.Text == "" && c.Data == "":
		return fieldErrorf("text", "give a text or data", "is empty, and there is no data")
	}
	if err := checkName("type", string(c.Type)); err != nil {
		return err
	}
	if err := checkName("source", string(c.Source)); err != nil {
		return err
	}
	if err := checkText("text", c.Text); err != nil {
		return err
	}
	if err := checkTags(c.Tags); err != nil {
		return err
	}
	if err := c.Links.check(); err != nil {
		return within("links", err)
	}
	for i, f := range c.Given.array() {
		if f != nil && !(*f >= 0 && *f <= 1) {
			return fieldErrorf("inputs."+inputNames[i], "give a number from 0 to 1", "%v is not from 0 to 1", *f)
		}
	}
	if c.Data == "" || c.DataChecked || len(c.Data) > MaxData {
		return nil
	}
	if err := strictjson.Check(c.Data); err != nil {
		return fieldErrorf("data", "give one JSON value", "is not JSON: %v", err)
	}
	return nil
}

// checkSize is for what would not be remembered whole.
func checkSize(field, text string, most int) error {
	if len(text) > most {
		return fieldErrorf(field, fmt.Sprintf("use at most %d, and a turn for the whole of it", most), "is %d bytes long", len(text))
	}
	return nil
}

func checkText(field, text string) error {
	if plainText(text) || utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return nil
	}
	return fieldErrorf(field, "give text in UTF-8 without NUL bytes", "is not text")
}

// plainText reports whether a text is ASCII without NUL, as most is, eight bytes at a time: taking 1 of each sets the top bit
// of a byte that was 0, and of those that had it set.
func plainText(text string) bool {
	for len(text) >= 8 {
		if x := eight(text); ((x-every)|x)&topBits != 0 {
			return false
		}
		text = text[8:]
	}
	for i := range len(text) {
		if text[i]-1 >= utf8.RuneSelf-1 {
			return false
		}
	}
	return true
}

// checkName holds short texts that stand in an index to their bound; an empty one is legal.
func checkName(field, name string) error {
	if len(name) > maxName {
		return fieldErrorf(field, fmt.Sprintf("use at most %d", maxName), "is %d bytes long", len(name))
	}
	return checkText(field, name)
}

func checkTags(tags []string) error {
	if len(tags) > MaxTags {
		return fieldErrorf("tags", fmt.Sprintf("use at most %d", MaxTags), "there are %d", len(tags))
	}
	for i, tag := range tags {
		// As it is kept: in lower case some letters have more bytes.
		folded := foldTag(tag)
		if size := max(len(tag), len(folded)); size > MaxTag {
			return fieldErrorf(indexed("tags", i), fmt.Sprintf("use at most %d", MaxTag), "is %d bytes long", size)
		}
		if folded == "" {
			return fieldErrorf(indexed("tags", i), "leave it out", "is empty")
		}
		if err := checkText("", tag); err != nil {
			return within(indexed("tags", i), err)
		}
	}
	return nil
}

func (l *Links) check() error {
	if err := checkIDs("turns", l.Turns); err != nil {
		return err
	}
	return checkIDs("items", l.Items)
}

func checkIDs(field string, ids []string) error {
	if len(ids) > MaxLinks {
		return fieldErrorf(field, fmt.Sprintf("use at most %d", MaxLinks), "there are %d", len(ids))
	}
	for i, id := range ids {
		if id == "" {
			return fieldErrorf(indexed(field, i), "leave it out", "is empty")
		}
		if err := checkName("", id); err != nil {
			return within(indexed(field, i), err)
		}
	}
	return nil
}

// tagRoom is how much room [uniqueTags] wants: one more than there are, for the type where it becomes a tag.
func tagRoom(tags []string) int {
	if len(tags) == 0 {
		return 0
	}
	return len(tags) + 1
}

// uniqueTags appends the tags to unique, which is empty: folded, each once, in the order given. Without any it returns nil.
func uniqueTags(unique, tags []string) []string {
	if len(tags) == 0 {
		return nil
	}
	for _, tag := range tags {
		if tag = foldTag(tag); !slices.Contains(unique, tag) {
			unique = append(unique, tag)
		}
	}
	return unique
}
