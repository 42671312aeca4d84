//go:build without_langchain

package main

// Nothing of langchaingo takes part: see bench/peers.go, which says why.
var langchainLogs []logSystem
