package main

import "path/filepath"

// folder is where a kind of file of a user is kept: the variable that names its place, and the place below
// the home folder where there is none.
type folder struct {
	windows     string // a variable
	darwin      string // below $HOME
	xdg, linux  string // a variable, and below $HOME
	kind, other string // for the error: what it is for, and what to do without it
}

var (
	dataFolder = folder{
		windows: "LocalAppData", darwin: "Library/Application Support", xdg: "XDG_DATA_HOME", linux: ".local/share",
		kind: "data", other: "say where the store is with --store or " + envStore,
	}
	configFolder = folder{
		windows: "AppData", darwin: "Library/Application Support", xdg: "XDG_CONFIG_HOME", linux: ".config",
		kind: "settings", other: "name the file with --config or " + envConfig,
	}
	cacheFolder = folder{
		windows: "LocalAppData", darwin: "Library/Caches", xdg: "XDG_CACHE_HOME", linux: ".cache",
		kind: "cached files", other: "set HOME",
	}
)

// dataDir is the folder for a user's data on an operating system.
func dataDir(goos string, getenv func(string) string) (string, error) {
	return dataFolder.dir(goos, getenv)
}

// dir is our part of the folder.
func (f folder) dir(goos string, getenv func(string) string) (string, error) {
	var base, under string
	switch goos {
	case "windows":
		base = getenv(f.windows)
	case "darwin":
		base, under = getenv("HOME"), f.darwin
	default:
		// A relative path there is invalid and has to be ignored.
		if base = getenv(f.xdg); !filepath.IsAbs(base) {
			base, under = getenv("HOME"), f.linux
		}
	}
	if base == "" {
		return "", usage(f.other, "there is no folder for your %s", f.kind)
	}
	return filepath.Join(base, filepath.FromSlash(under), "turnstone"), nil
}
