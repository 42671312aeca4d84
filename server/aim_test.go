package server

import "testing"

// A change is of what the path names, in the version that was seen: whoever changed it since is not overwritten.
func TestAim(t *testing.T) {
	for _, test := range []struct {
		id      string
		version int64
		want    int64
		refused bool
	}{
		{"", 0, 7, false},
		{"g", 0, 7, false},
		{"g", 3, 3, false},
		{"other", 0, 0, true},
	} {
		id, version := test.id, test.version
		err := aim(&id, &version, "g", 7)
		if (err != nil) != test.refused || err == nil && (id != "g" || version != test.want) {
			t.Errorf("%+v: %s, version %d, %v", test, id, version, err)
		}
	}
}
