package strictjson_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

func TestMarshal(t *testing.T) {
	text, err := strictjson.Marshal(map[string]any{"a": "1 < 2 && 3 > 2\n", "b": []int{1}})
	if want := `{"a":"1 < 2 && 3 > 2\n","b":[1]}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	if text, err := strictjson.Marshal(func() {}); err == nil || text != nil {
		t.Errorf("a function is %s", text)
	}
}
