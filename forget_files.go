package turnstone

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

// keptFile is a file that the engine wrote of a session when it ended.
type keptFile struct {
	kind  string // as receipts name it
	path  string // empty where such files are not written
	again func(context.Context) error
	// says reads the file and reports whether it says something of the turns with these ids.
	says func(path string, ids map[string]bool) (bool, error)
	// stale is set where it still said what was forgotten, though the log did not any more.
	stale bool
}

// keptFiles are the files that may have been written of a session.
func keptFiles(s *Session) []keptFile {
	return []keptFile{
		{kind: "bundle", path: s.BundlePath(), says: s.bundleSays, again: func(ctx context.Context) error {
			_, _, err := s.keepBundle(ctx)
			return err
		}},
		{kind: "document", path: s.DocumentPath(), says: documentSays, again: s.keepHistory},
	}
}

// removeFiles deletes the files of all sessions that are reached, and returns them, to be written again.
func (f *forgetting) removeFiles() (removed []keptFile, err error) {
	for i := range f.sessions {
		for _, file := range keptFiles(f.sessions[i].handle) {
			if err := removeUnfinished(file.path); err != nil {
				return removed, err
			}
			if !file.exists() {
				continue
			}
			file.stale = f.staleIn(file)
			if err := os.Remove(file.path); err != nil {
				return removed, err
			}
			if err := syncFolder(filepath.Dir(file.path)); err != nil {
				return removed, err
			}
			removed = append(removed, file)
		}
	}
	return removed, nil
}

// countFiles counts the files once the rows are counted. Asked for again, all is made anew without a look at what is in it, as
// nothing must be left; but what was without it already, while nothing in the store changed, is no news for a receipt.
func (f *forgetting) countFiles(files []keptFile) {
	changed := f.turns > 0 || len(f.counts) > 0
	for _, file := range files {
		if changed || file.stale {
			f.count(file.kind, 1)
		}
	}
}

// staleIn reports whether a file says something of the turns where the log does not any more: it was written elsewhere, or put
// back. One that cannot be read counts as such.
func (f *forgetting) staleIn(file keptFile) bool {
	if len(f.places) > 0 {
		return false // that the log changes says enough
	}
	says, err := file.says(file.path, f.ids)
	return says || err != nil
}

// bundleSays reads a bundle; see keptFile.
func (s *Session) bundleSays(path string, ids map[string]bool) (says bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	d, err := replay.NewDecoder(file, s.engine.config.Limits)
	if err != nil {
		return false, err
	}
	defer d.Close()
	for r, err := range d.Records() {
		if err != nil {
			return false, err
		}
		if r.Turn != nil && ids[r.Turn.ID] && !r.Turn.Gone() {
			return true, nil
		}
	}
	return false, nil
}

// documentSays reads a session document; see keptFile.
func documentSays(path string, ids map[string]bool) (bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	var doc struct {
		Messages []struct {
			Parts     []struct{ Text string }
			Turnstone struct {
				ID string `json:"turn_id"`
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return false, err
	}
	for _, m := range doc.Messages {
		if ids[m.Turnstone.ID] && (len(m.Parts) != 1 || m.Parts[0].Text != turn.ForgottenText) {
			return true, nil
		}
	}
	return false, nil
}

// removeUnfinished deletes what a crash left of a file that was to be put at path.
func removeUnfinished(path string) error {
	if path == "" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := folder.Readdirnames(0)
	for _, name := range names {
		// The name of another session may begin like this one's.
		if number, is := strings.CutPrefix(name, unfinished(path)); is && strings.Trim(number, "0123456789") == "" {
			err = errors.Join(err, os.Remove(filepath.Join(folder.Name(), name)), syncFolder(folder.Name()))
		}
	}
	return errors.Join(err, folder.Close())
}

// exists reports whether there is such a file.
func (k *keptFile) exists() bool {
	if k.path == "" {
		return false
	}
	_, err := os.Lstat(k.path)
	return !errors.Is(err, fs.ErrNotExist)
}
