package budget

import (
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// whole is the codec of an int.
func whole() record.Codec[int] {
	number := record.Int()
	return record.Codec[int]{
		Append: func(dst []byte, n int) []byte { return number.Append(dst, int64(n)) },
		Decode: func(v strictjson.Raw) (int, error) {
			n, err := number.Decode(v)
			return int(n), err
		},
	}
}

var templateFields = record.Fields[Template]{
	record.Value("prompt", func(t *Template) *int { return &t.Prompt }, whole()),
	record.Value("message", func(t *Template) *int { return &t.Message }, whole()),
	record.Value("call", func(t *Template) *int { return &t.Call }, whole()),
	record.Value("tool", func(t *Template) *int { return &t.Tool }, whole()),
	record.Value("image", func(t *Template) *int { return &t.Image }, whole()),
}

var profileFields = record.Fields[Profile]{
	record.Value("name", func(p *Profile) *string { return &p.Name }, record.Text[string]()),
	record.List("aliases", func(p *Profile) *[]string { return &p.Aliases }, record.Text[string]()),
	record.Value("provider", func(p *Profile) *string { return &p.Provider }, record.Text[string]()),
	record.Value("context", func(p *Profile) *int { return &p.Context }, whole()),
	record.List("contexts", func(p *Profile) *[]int { return &p.Contexts }, whole()),
	record.Value("size", func(p *Profile) *float64 { return &p.Size }, record.Float()),
	record.Value("tokenizer", func(p *Profile) *string { return &p.Tokenizer }, record.Text[string]()),
	record.Value("template", func(p *Profile) *Template { return &p.Template }, record.Of(templateFields)),
	record.Value("vision", func(p *Profile) *bool { return &p.Vision }, record.Bool()),
}

// AppendJSON appends the profile as one JSON object. What is empty is left out. The profile must be one that
// [Profile.Check] accepts.
func (p Profile) AppendJSON(dst []byte) []byte { return profileFields.Append(dst, &p) }

// DecodeProfiles reads a JSON array of profiles, such as a user keeps in a file, and checks each. What is
// wrong is a *[FieldError] that names the place: [2].context. A profile without a template gets the usual
// one.
func DecodeProfiles(data string) ([]Profile, error) {
	profiles, err := record.ListOf(record.Of(profileFields)).Decode(strictjson.Raw(data))
	if err != nil {
		return nil, record.Within("", err)
	}
	for i := range profiles {
		if profiles[i].Template == (Template{}) {
			profiles[i].Template = usualTemplate
		}
		if err := profiles[i].Check(); err != nil {
			return nil, record.Within(record.Indexed("", i), err)
		}
	}
	return profiles, nil
}
