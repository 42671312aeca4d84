package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	maxName   = 64
	nameCheck = 4 // bytes of the hash in a name that was changed
)

// ToolName is the name a tool has at the providers. It is the tool's own where that is of 1 to 64 letters,
// digits, underscores and hyphens. Otherwise others become underscores and the beginning of the name's
// SHA-256 is put behind it, so that names stay different. Who reads a model's calls looks up
// which of its tools has the name.
func ToolName(name string) string {
	if len(name) <= maxName && plainName(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	tail := "_" + hex.EncodeToString(sum[:nameCheck])
	head := strings.Map(func(r rune) rune {
		if r < 0x80 && plainByte(byte(r)) {
			return r
		}
		return '_'
	}, name)
	return head[:min(len(head), maxName-len(tail))] + tail
}

func plainName(s string) bool {
	for i := range len(s) {
		if !plainByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}
