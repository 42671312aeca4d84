package main

import (
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print which turnstone this is",
		Example: "  turnstone version --json",
		Args:    arguments(),
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			if a.json {
				return a.printJSON(v)
			}
			commit := v.Commit
			if v.Changed {
				commit += ", with changes"
			}
			return a.fields(
				[2]string{"turnstone", v.Version}, [2]string{"commit", commit}, [2]string{"of", v.Time},
				[2]string{"go", v.Go + " " + v.System}, [2]string{"stores", "schema version " + strconv.Itoa(v.Schema)},
				[2]string{"bundles", "version " + strconv.Itoa(v.Bundle)},
			)
		},
	}
}

type versionJSON struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Time    string `json:"time,omitempty"`
	Changed bool   `json:"changed,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
	Schema  int    `json:"schema_version"`
	Bundle  int    `json:"bundle_version"`
}

func thisVersion() versionJSON {
	v := versionJSON{
		Version: "(devel)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Schema: store.SchemaVersion, Bundle: replay.Version,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Changed = s.Value == "true"
		}
	}
	return v
}

func buildVersion() string { return thisVersion().Version }
