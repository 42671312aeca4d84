package turnstone

import "path/filepath"

// The endings of the names of files that [Session.End] writes.
const (
	bundleExt   = ".bundle"
	documentExt = ".json"
)

// DocumentPath is where [Session.End] writes the session document, empty where no folder is configured for it.
func (s *Session) DocumentPath() string {
	if s.engine.config.SessionsDir == "" {
		return ""
	}
	return filepath.Join(s.engine.config.SessionsDir, fileName(s.key.Tenant), fileName(s.key.Session)+documentExt)
}

// BundlePath is where [Session.End] writes the bundle, empty where no folder is configured for it.
func (s *Session) BundlePath() string {
	if s.engine.config.BundleDir == "" {
		return ""
	}
	return filepath.Join(s.engine.config.BundleDir, fileName(s.key.Tenant), fileName(s.key.Session)+bundleExt)
}
