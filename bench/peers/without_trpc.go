//go:build without_trpc

package main

// Nothing of trpc-agent-go takes part: see bench/peers.go, which says why.
var trpcTalks []talkSystem
