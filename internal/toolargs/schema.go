package toolargs

import (
	"errors"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// AppendSchema appends a JSON Schema of type object: as it is, with that type and no properties put in where they are
// not said, which some servers insist on. What is no such schema is a *[invalid.Field] without a name, or
// with one inside the schema, and dst is returned as it was.
func AppendSchema(dst []byte, raw string) ([]byte, error) {
	if raw = strings.Trim(raw, space); raw == "" {
		raw = "{}"
	}
	const fix = `give a JSON Schema of type "object"`
	if !Parsable(raw) {
		return dst, invalid.New("", "is not JSON that every provider can read", fix)
	}
	members, typed, properties := 0, false, false
	err := strictjson.Object(raw, func(name string, v strictjson.Raw) error {
		members++
		properties = properties || name == "properties"
		if name != "type" {
			return nil
		}
		typed = true
		if is, err := v.String(); err != nil || is != "object" {
			return invalid.New("type", `is not "object"`, fix)
		}
		return nil
	})
	if field := (*invalid.Field)(nil); err != nil && !errors.As(err, &field) {
		return dst, invalid.New("", err.Error(), fix)
	} else if err != nil {
		return dst, err
	}
	var put []string
	if !typed {
		put = append(put, `"type":"object"`)
	}
	if !properties {
		put = append(put, `"properties":{}`)
	}
	if members > 0 {
		put = append(put, "")
	}
	return append(append(dst, "{"+strings.Join(put, ",")...), raw[1:]...), nil
}
