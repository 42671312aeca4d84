package ollama

import (
	"encoding/binary"
	"math"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

// pack writes a vocabulary: numbers as varints, texts after their lengths, lists after theirs.
func pack(v bpe.Vocabulary) []byte {
	var dst []byte
	dst = appendText(dst, v.Model)
	dst = appendText(dst, v.Pre)
	space := byte(0)
	if v.AddSpacePrefix {
		space = 1
	}
	dst = append(dst, space)
	dst = appendTexts(dst, v.Tokens)
	dst = appendTexts(dst, v.Merges)
	dst = binary.AppendUvarint(dst, uint64(len(v.Types)))
	for _, n := range v.Types {
		dst = binary.AppendVarint(dst, int64(n))
	}
	dst = binary.AppendUvarint(dst, uint64(len(v.Scores)))
	for _, score := range v.Scores {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(score))
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendTexts(dst []byte, all []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(all)))
	for _, s := range all {
		dst = appendText(dst, s)
	}
	return dst
}

// unpack reads what pack wrote; errDamaged for all else.
func unpack(packed []byte) (bpe.Vocabulary, error) {
	// One string for all texts, of which they are parts.
	r := &unpacker{rest: string(packed)}
	v := bpe.Vocabulary{Model: r.text(), Pre: r.text()}
	v.AddSpacePrefix = r.take(1) == "\x01"
	v.Tokens = r.texts()
	v.Merges = r.texts()
	if n := r.length(1); n > 0 {
		v.Types = make([]int32, n)
		for i := range v.Types {
			u := r.uvarint()
			v.Types[i] = int32(int64(u>>1) ^ -int64(u&1))
		}
	}
	if n := r.length(4); n > 0 {
		v.Scores = make([]float32, n)
		for i := range v.Scores {
			if four := r.take(4); len(four) == 4 {
				v.Scores[i] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(four)))
			}
		}
	}
	if r.damaged || r.rest != "" {
		return bpe.Vocabulary{}, errDamaged
	}
	return v, nil
}

// unpacker reads from the beginning of what is left; once it was damaged, all it reads is empty.
type unpacker struct {
	rest    string
	damaged bool
}

func (r *unpacker) take(n int) string {
	if n > len(r.rest) {
		r.rest, r.damaged = "", true
		return ""
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *unpacker) uvarint() uint64 {
	head := r.rest[:min(len(r.rest), binary.MaxVarintLen64)]
	n, size := binary.Uvarint([]byte(head))
	if size <= 0 {
		r.rest, r.damaged = "", true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// length reads the length of a list whose elements take at least size bytes.
func (r *unpacker) length(size int) int {
	n := r.uvarint()
	if n > uint64(len(r.rest)/size) {
		r.rest, r.damaged = "", true
		return 0
	}
	return int(n)
}

func (r *unpacker) text() string { return r.take(r.length(1)) }

func (r *unpacker) texts() []string {
	n := r.length(1)
	if n == 0 {
		return nil
	}
	all := make([]string, n)
	for i := range all {
		all[i] = r.text()
	}
	return all
}
