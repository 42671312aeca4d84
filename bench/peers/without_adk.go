//go:build without_adk

package main

// Nothing of adk takes part: see bench/peers.go, which says why.
var (
	adkLogs  []logSystem
	adkTalks []talkSystem
)
