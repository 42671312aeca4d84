package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/config"
)

// settings are the flags that the file of settings may give: those that mean the same from run to run. The others say
// what one run is about, or allow what cannot be taken back. The commands are those in which it is a setting; without
// any it is one wherever it is a flag.
var settings = map[string][]string{
	"store": nil, "tenant": nil, "json": nil, "no-color": nil, "quiet": nil,
	"models": nil, "ollama": nil,
	// A model or a context of the file would go over those of the session in all other commands.
	"model": {"chat", "serve"}, "context": {"chat", "serve"},
	"url": nil, "api": nil, "key-env": nil,
	"system": {"chat"}, "sticky": {"chat"}, "files": {"chat"}, "shell": {"chat"}, "lines": {"chat"},
	"strategy": nil, "threshold": nil, "preserve-recent": nil, "summary-max": nil, "no-auto-snapshots": nil,
	"snapshot-threshold": nil, "no-compression": nil, "no-snapshots": nil, "follow-up-timeout": nil,
	"no-model-summaries": nil, "model-summaries": nil, "no-recall": nil, "recall": nil, "embed-model": nil,
	"addr": nil, "keys": nil, "trusted-proxy": nil, "cors-origin": nil, "bus": nil, "bus-stream": nil, "record-only": nil, "access-log": nil, "pprof": nil,
	"idle-after": nil, "bundle-dir": nil, "sessions-dir": nil, "no-bundle": nil,
	"max-text": nil, "max-blob": nil, "max-body": nil, "max-append": nil, "max-bundle": nil, "max-turns": nil, "max-bodies": nil,
	"rate": nil, "timeout": {"serve"}, "drain": nil, "grace": {"serve"},
	"limit": nil, "turns": nil, "keep-system": nil, "sort": nil,
}

// variables are the environment variables of settings, the first one ours. They go over the file.
var variables = map[string][]string{
	"store": {envStore}, "tenant": {envTenant}, "models": {envModels}, "ollama": {envOllama, envOllamaHost},
	"model": {envModel}, "url": {envURL, envUpstream}, "addr": {envAddr}, "bus": {envBus},
	"sessions-dir": {envSessions}, "no-color": {"NO_COLOR"},
}

// renamed are settings that files may still have under the names that they had. They are for the command that had them, also
// where they stand above all tables: what others ask stands beside them.
var renamed = map[string]config.Entry{"upstream": {Command: "serve", Name: "url"}}

// isSetting reports whether the file may give the flag of that name to a command that has it.
func isSetting(cmd *cobra.Command, name string) bool {
	commands, known := settings[name]
	return known && (commands == nil || slices.Contains(commands, path(cmd)))
}

// eachBelow visits a command and all below it, until it is told to stop.
func eachBelow(cmd *cobra.Command, visit func(*cobra.Command) bool) bool {
	return visit(cmd) && !slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return !eachBelow(c, visit) })
}
