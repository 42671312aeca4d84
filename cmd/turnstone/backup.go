package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup DEST",
		Short: "Copy the store, while it is in use",
		Long: `Copy the whole store, all tenants, as it is at one moment, while others go on using it. DEST
is a new file, which is a store like any other, or the postgres:// URL of an empty database. A
file that is there already is never touched.`,
		Example: `  turnstone backup monday.db
  turnstone --store postgres://app@db/turnstone backup monday.db
  turnstone --store monday.db backup postgres://app@db/restored`,
		Args: arguments("DEST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dest, err := a.parsePlace("DEST", args[0])
			if err != nil {
				return err
			}
			dest.given = true
			return a.backup(cmd.Context(), dest)
		},
	}
}

func (a *app) backup(ctx context.Context, dest place) (err error) {
	if dest.path != "" {
		if err := refuseExisting(dest.path); err != nil {
			return advise(err, fs.ErrExist, "choose another name, or remove it first")
		}
		if err := checkFolder(dest.path); err != nil {
			return err
		}
	}
	src, err := a.openStore(ctx, toUse)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	bar := a.bar(progress.Config{Label: "backup", Unit: "rows"})
	err = a.copyStore(ctx, src, dest, bar)
	bar.Clear()
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	a.stored = "the copy is made"
	if a.json {
		return a.printJSON(map[string]string{"backup": a.redact(dest.String())})
	}
	return a.printf("copied to %s", a.redact(dest.String()))
}

func (a *app) copyStore(ctx context.Context, src store.Store, dest place, bar *progress.Bar) (err error) {
	if dest.url != "" {
		return load(ctx, src, dest, bar)
	}
	temporary := a.temporaryBeside(dest.path)
	defer func() {
		if err != nil {
			err = errors.Join(underName(err, temporary.path, dest.path), temporary.remove())
		}
	}()
	if file, ok := src.(*sqlite.Store); ok {
		err = file.Backup(ctx, temporary.path)
	} else {
		err = load(ctx, src, temporary, bar)
	}
	if err != nil {
		return err
	}
	return put(temporary.path, dest.path)
}

// temporaryBeside is a place for a store that gets the name of path when it is whole.
func (a *app) temporaryBeside(path string) place {
	return place{path: filepath.Join(filepath.Dir(path), ".turnstone-"+a.newID()), given: true}
}

// remove deletes a store's files.
func (p place) remove() error {
	return errors.Join(remove(p.path), remove(p.path+"-wal"), remove(p.path+"-shm"))
}

// load fills a new store with the rows of another.
func load(ctx context.Context, src store.Store, dest place, bar *progress.Bar) (err error) {
	st, err := dest.open(ctx, toMake)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return advise(st.Load(ctx, rows(ctx, src, bar)), store.ErrNotEmpty, "give a new file or an empty database")
}

var errEnough = errors.New("no more rows are wanted")

// rows turns a dump around: its rows are pulled, not pushed.
func rows(ctx context.Context, src store.Store, bar *progress.Bar) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		err := src.Dump(ctx, func(r store.Row) error {
			bar.Add(1)
			if !yield(r, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(store.Row{}, err)
		}
	}
}
