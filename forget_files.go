package turnstone

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// keptFile is a file that was written of a session when it ended.
type keptFile struct {
	kind  string // as receipts name it
	path  string
	again func(context.Context) error
	// says reads the file and reports whether it says something of the turns with these ids.
	says func(path string, ids map[string]bool) (bool, error)
	// noted is set where the store knows that it was written, and foreign where it is in no folder that this engine writes to.
	noted, foreign bool
	// stale is set where it still said what was forgotten, though the log did not any more.
	stale bool
	// of is whose it is, among the sessions that are reached.
	of int
	// lost is set where it was not there, or could not be deleted.
	lost bool
}

// keptFiles are the files that may have been written of a session: in the folders of this engine, and wherever it was noted.
func keptFiles(s *Session, info *turn.SessionInfo) (files []keptFile) {
	configured, noted := s.filePaths(), notedFiles(info)
	for _, path := range union(configured, noted) {
		file := keptFile{kind: "bundle", path: path, says: s.bundleSays, noted: slices.Contains(noted, path), foreign: !slices.Contains(configured, path)}
		file.again = func(ctx context.Context) error {
			_, err := s.writeBundle(ctx, path)
			return err
		}
		if filepath.Ext(path) == documentExt {
			file.kind, file.says = "document", documentSays
			file.again = func(ctx context.Context) error { return s.writeDocument(ctx, path) }
		}
		files = append(files, file)
	}
	return files
}

// filePaths are where [Session.End] writes files, as paths that mean the same everywhere on this machine.
func (s *Session) filePaths() (paths []string) {
	for _, path := range []string{s.BundlePath(), s.DocumentPath()} {
		if path == "" {
			continue
		}
		if whole, err := filepath.Abs(path); err == nil {
			path = whole
		}
		paths = append(paths, path)
	}
	return paths
}

// notedFiles are where files of the session were written whenever it ended.
func notedFiles(info *turn.SessionInfo) (paths []string) {
	if info.Files != "" && json.Unmarshal([]byte(info.Files), &paths) != nil {
		return nil
	}
	return paths
}

// noteFiles keeps where files of the session are going to be written, before they are.
func (s *Session) noteFiles(ctx context.Context) error {
	return s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		noted := notedFiles(&info)
		all := union(noted, s.filePaths())
		if len(all) == len(noted) {
			return nil
		}
		data, err := json.Marshal(all)
		if err != nil {
			return err
		}
		info.Files = string(data)
		return tx.Log().UpdateSession(ctx, info)
	})
}

// union is both lists, each path once.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, path := range b {
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

// removeFiles deletes the files of all sessions that are reached, and returns them, to be written again: also those that it came to
// before an error. Among them are those that are lost.
func (f *forgetting) removeFiles() (files []keptFile, err error) {
	for i := range f.sessions {
		for _, file := range keptFiles(f.sessions[i].handle, &f.sessions[i].info) {
			file.of = i
			there := file.exists()
			if there {
				file.stale = f.staleIn(file)
			}
			err := file.remove()
			file.lost = !there || file.exists()
			if !file.lost || file.noted {
				files = append(files, file)
			}
			if err != nil && !file.foreign {
				return files, err
			}
		}
	}
	return files, nil
}

// remove deletes the file, and what a crash left of it.
func (k *keptFile) remove() error {
	if err := removeUnfinished(k.path); err != nil {
		return err
	}
	if err := os.Remove(k.path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return syncFolder(filepath.Dir(k.path))
}

// countFiles counts the files once the rows are counted. Asked for again, all is made anew without a look at what is in it, as
// nothing must be left; but what was without it already, while nothing in the store changed, is no news for a receipt.
func (f *forgetting) countFiles(files []keptFile) {
	f.files, f.unreachable = nil, nil
	changed := f.turns > 0 || len(f.counts) > 0
	for _, file := range files {
		if !f.named(file.of) {
			continue // it is written again as it was
		}
		if file.lost {
			f.unreachable = append(f.unreachable, file.path)
		} else if changed || file.stale {
			f.count(file.kind, 1)
			f.files = append(f.files, file.path)
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
	return removeIn(filepath.Dir(path), func(name string, _ os.DirEntry) bool {
		// The name of another session may begin like this one's.
		number, is := strings.CutPrefix(name, unfinished(path))
		return is && strings.Trim(number, "0123456789") == ""
	})
}

// abandonedAfter is how long nothing was written to a file for that nobody is writing any more.
const abandonedAfter = 10 * time.Minute

// removeAbandoned deletes what processes that were killed left of files in a folder. Who still writes one writes all the time.
func removeAbandoned(dir string) error {
	return removeIn(dir, func(name string, entry os.DirEntry) bool {
		whole := strings.TrimRight(name, "0123456789")
		if whole == name || name[0] != '.' || !strings.HasSuffix(whole, bundleExt+"-") && !strings.HasSuffix(whole, documentExt+"-") {
			return false
		}
		info, err := entry.Info()
		return err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandonedAfter
	})
}

// removeIn deletes the files of a folder that are not wanted.
func removeIn(dir string, unwanted func(name string, entry os.DirEntry) bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	gone := false
	for _, entry := range entries {
		if unwanted(entry.Name(), entry) {
			err, gone = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name()))), true
		}
	}
	if gone {
		err = errors.Join(err, syncFolder(dir))
	}
	return err
}

// exists reports whether there is such a file.
func (k *keptFile) exists() bool {
	_, err := os.Lstat(k.path)
	return !errors.Is(err, fs.ErrNotExist)
}
