package strictjson

import (
	"bytes"
	"encoding/json"
)

// Marshal is [json.Marshal] of a value that is not for a browser: <, > and & stand as they are, not as numbers.
func Marshal(v any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
