package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

func TestABackupIsTheStoreAsItWas(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	for range 20 {
		mustSay(t, s, k, "findable")
	}
	if err := s.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := dump(t, s)
	path := filepath.Join(t.TempDir(), "it's a copy.db")
	// Somebody is writing all the while.
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if err := tx.Log().Advance(t.Context(), k, 99, tx.Now()); err != nil {
			return err
		}
		return s.Backup(t.Context(), path)
	})
	if err != nil {
		t.Fatal(err)
	}
	mustSay(t, s, k, "later")
	copied := open(t, path, sqlite.Config{})
	if diff := cmp.Diff(want, dump(t, copied)); diff != "" {
		t.Error(diff)
	}
	if n := len(search(t, copied, k, "findable")); n != 20 {
		t.Errorf("%d hits", n)
	}
	mustSay(t, copied, k, "on its own")

	if err := s.Backup(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if n := len(log(t, copied, k)); n != 21 {
		t.Errorf("the copy has %d turns after that", n)
	}
	for range 10 { // the readers are readers again
		if err := s.View(t.Context(), func(tx store.Tx) error { return tx.Log().Advance(t.Context(), k, 1, tx.Now()) }); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("got %v", err)
		}
	}
}

func TestABackupThatFailsLeavesNothing(t *testing.T) {
	alone(t)
	s, _, _ := openSeeded(t, 8000)
	whole := &countedContext{Context: t.Context()}
	if err := s.Backup(whole, filepath.Join(t.TempDir(), "whole.db")); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for part := range int64(8) {
		ctx := &countedContext{Context: t.Context(), endAfter: 1 + whole.looks.Load()*part/8}
		if err := s.Backup(ctx, filepath.Join(folder, "cut off.db")); !errors.Is(err, context.Canceled) {
			t.Errorf("cut off after %d looks: %v", ctx.endAfter, err)
		}
	}
	if err := s.Backup(t.Context(), filepath.Join(folder, "none", "x.db")); err == nil {
		t.Error("a backup into no folder")
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if err := s.Backup(t.Context(), filepath.Join(folder, "good.db")); err != nil {
		t.Error(err)
	}
}

func dump(t testing.TB, s store.Store) (rows []store.Row) {
	t.Helper()
	err := s.Dump(t.Context(), func(row store.Row) error {
		row.Values = append([]any{}, row.Values...)
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
