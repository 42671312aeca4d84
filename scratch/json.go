package scratch

import (
	"math"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
)

var observationFields = record.Fields[Observation]{
	record.Value("id", func(o *Observation) *string { return &o.ID }, record.Text[string]()),
	record.Value("type", func(o *Observation) *string { return &o.Type }, record.Text[string]()),
	record.Value("content", func(o *Observation) *string { return &o.Content }, record.Text[string]()),
	record.Value("source", func(o *Observation) *string { return &o.Source }, record.Text[string]()),
	record.Value("owner", func(o *Observation) *string { return &o.Owner }, record.Text[string]()),
	record.Value("status", func(o *Observation) *Status { return &o.Status }, record.Text[Status]()),
	record.Value("confidence", func(o *Observation) *float64 { return &o.Confidence }, record.Float()).Always(),
	record.List("context_refs", func(o *Observation) *[]string { return &o.ContextRefs }, record.Text[string]()),
	record.List("tags", func(o *Observation) *[]string { return &o.Tags }, record.Text[string]()),
	record.Value("expires_at", func(o *Observation) *time.Time { return &o.ExpiresAt }, record.Time()),
	record.Value("created_at", func(o *Observation) *time.Time { return &o.CreatedAt }, record.Time()),
	record.Value("updated_at", func(o *Observation) *time.Time { return &o.UpdatedAt }, record.Time()),
}

var changeFields = record.Fields[Change]{
	record.Value("id", func(c *Change) *string { return &c.ID }, record.Text[string]()),
	record.Optional("type", func(c *Change) **string { return &c.Type }, record.Text[string]()),
	record.Optional("content", func(c *Change) **string { return &c.Content }, record.Text[string]()),
	record.Optional("source", func(c *Change) **string { return &c.Source }, record.Text[string]()),
	record.Optional("owner", func(c *Change) **string { return &c.Owner }, record.Text[string]()),
	record.Optional("status", func(c *Change) **Status { return &c.Status }, record.Text[Status]()),
	record.Optional("confidence", func(c *Change) **float64 { return &c.Confidence }, record.Float()),
	record.Optional("context_refs", func(c *Change) **[]string { return &c.ContextRefs }, record.ListOf(record.Text[string]())),
	record.Optional("tags", func(c *Change) **[]string { return &c.Tags }, record.ListOf(record.Text[string]())),
	record.Optional("expires_at", func(c *Change) **time.Time { return &c.ExpiresAt }, record.Time()),
}

var changesFields = record.Fields[Changes]{
	record.List("put", func(c *Changes) *[]Change { return &c.Put }, record.Of(changeFields)),
	record.List("archive", func(c *Changes) *[]string { return &c.Archive }, record.Text[string]()),
	record.List("clear", func(c *Changes) *[]string { return &c.Clear }, record.Text[string]()),
}

// AppendJSON appends the observation as one JSON object. Equal observations give equal text; what is
// empty is left out. The observation must be legal, as every one that this package hands out is.
func (o Observation) AppendJSON(dst []byte) []byte { return o.append(dst) }

// append appends what observationFields would: see [record.AppendName].
func (o *Observation) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = record.AppendText(dst, "id", o.ID)
	dst = record.AppendText(dst, "type", o.Type)
	dst = record.AppendText(dst, "content", o.Content)
	dst = record.AppendText(dst, "source", o.Source)
	dst = record.AppendText(dst, "owner", o.Owner)
	dst = record.AppendText(dst, "status", o.Status)
	dst = record.AppendFloat(dst, "confidence", o.Confidence)
	dst = record.AppendTexts(dst, "context_refs", o.ContextRefs)
	dst = record.AppendTexts(dst, "tags", o.Tags)
	dst = record.AppendTime(dst, "expires_at", o.ExpiresAt)
	dst = record.AppendTime(dst, "created_at", o.CreatedAt)
	dst = record.AppendTime(dst, "updated_at", o.UpdatedAt)
	return append(dst, '}')
}

// DecodeObservation reads what [Observation.AppendJSON] wrote. Unknown fields and an observation that
// breaks a rule are refused with a *[FieldError] that names the place.
func DecodeObservation(data string) (Observation, error) {
	o, err := observationFields.Decode(data)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return Observation{}, err
	}
	return o, nil
}

// MarshalJSON is [Observation.AppendJSON] for an observation that breaks no rule.
func (o Observation) MarshalJSON() ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return o.AppendJSON(nil), nil
}

// UnmarshalJSON is [DecodeObservation].
func (o *Observation) UnmarshalJSON(data []byte) (err error) {
	*o, err = DecodeObservation(string(data))
	return err
}

// AppendJSON appends the changes as one JSON object. What is nil or empty is left out. Text must be valid
// UTF-8 and numbers finite; whether a change is legal shows when it is staged.
func (c Changes) AppendJSON(dst []byte) []byte { return changesFields.Append(dst, &c) }

// DecodeChanges reads what [Changes.AppendJSON] wrote. Unknown and ill-typed fields are refused with
// a *[FieldError] that names the place.
func DecodeChanges(data string) (Changes, error) { return changesFields.Decode(data) }

// MarshalJSON is [Changes.AppendJSON].
func (c Changes) MarshalJSON() ([]byte, error) {
	for i, p := range c.Put {
		if err := p.finite(); err != nil {
			return nil, record.Within(record.Indexed("put", i), err)
		}
	}
	return c.AppendJSON(nil), nil
}

// UnmarshalJSON is [DecodeChanges].
func (c *Changes) UnmarshalJSON(data []byte) (err error) {
	*c, err = DecodeChanges(string(data))
	return err
}

// MarshalJSON returns the change's JSON, without what is nil.
func (c Change) MarshalJSON() ([]byte, error) {
	if err := c.finite(); err != nil {
		return nil, err
	}
	return changeFields.Append(nil, &c), nil
}

// UnmarshalJSON reads a change. Unknown and ill-typed fields are refused with a *[FieldError].
func (c *Change) UnmarshalJSON(data []byte) (err error) {
	*c, err = changeFields.Decode(string(data))
	return err
}

// finite refuses the numbers that JSON cannot write.
func (c *Change) finite() error {
	if c.Confidence != nil && (math.IsNaN(*c.Confidence) || math.IsInf(*c.Confidence, 0)) {
		return invalid.New("confidence", "is not a finite number", "give a number from 0 to 1")
	}
	return nil
}
