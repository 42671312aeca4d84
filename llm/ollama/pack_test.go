package ollama

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

func TestPack(t *testing.T) {
	for name, v := range map[string]bpe.Vocabulary{
		"nothing": {},
		"everything": {
			Model: "llama", Pre: "default", Tokens: []string{"", "a", "▁b", "\x00"}, Types: []int32{1, -7, math.MaxInt32, math.MinInt32},
			Merges: []string{"a b"}, Scores: []float32{0, -1.5, math.MaxFloat32, -1000}, AddSpacePrefix: true,
		},
	} {
		packed := pack(v)
		got, err := unpack(packed)
		if diff := cmp.Diff(v, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		for n := range packed {
			if _, err := unpack(packed[:n]); !errors.Is(err, errDamaged) {
				t.Errorf("%s: %d of %d bytes: %v", name, n, len(packed), err)
			}
		}
		if _, err := unpack(append(packed, 0)); !errors.Is(err, errDamaged) {
			t.Errorf("%s and a byte: %v", name, err)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(pack(bpe.Vocabulary{Model: "gpt2", Tokens: []string{"a", "b"}, Types: []int32{1, 1}, Merges: []string{"a b"}}))
	f.Add([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01})
	f.Fuzz(func(t *testing.T, packed []byte) {
		v, err := unpack(packed)
		if err != nil {
			return
		}
		if _, err := unpack(pack(v)); err != nil {
			t.Fatal(err)
		}
	})
}
