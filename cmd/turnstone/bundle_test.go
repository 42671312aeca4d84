package main

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// longBundle writes a bundle of that many turns by hand.
func longBundle(turns int) string {
	const at = "2026-01-02T03:04:05.000000Z"
	var b strings.Builder
	fmt.Fprintf(&b, `{"turnstone_bundle":1,"created_at":%q,"session":{"session_id":"long","tenant":"default","status":"active",`+
		`"created_at":%q,"last_activity":%q,"head":%d}}`+"\n", at, at, at, turns)
	for seq := 1; seq <= turns; seq++ {
		fmt.Fprintf(&b, `{"turn":{"turn_id":"01K%023d","seq":%d,"role":"user","form":"text","content":{"text":"turn %d"},"created_at":%q}}`+"\n",
			seq, seq, seq, at)
	}
	fmt.Fprintf(&b, `{"revision":{"number":0,"after_seq":0,"at":%q,"state":{"stack":[]}}}`+"\n", at)
	sum := sha256.Sum256([]byte(b.String()))
	fmt.Fprintf(&b, `{"end":{"records":%d,"turns":%d,"sha256":"%x"}}`+"\n", turns+1, turns, sum)
	return b.String()
}
