package main

import (
	"database/sql"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// table is the least that the same bytes cost in SQLite: rows of one table without an index, many exchanges to a
// transaction, written by nobody but the driver that the store is built on.
type table struct {
	db   *sql.DB
	rows int // of an exchange
}

func openTable(path string, rows int) (*table, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=page_size(8192)&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec("CREATE TABLE bodies (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
	return &table{db, rows}, err
}

// add writes exchanges of so many bytes in one transaction.
func (t *table) add(data []byte, exchanges int) (err error) {
	tx, err := t.db.Begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = firstError(err, tx.Rollback())
		}
	}()
	insert, err := tx.Prepare("INSERT INTO bodies (body) VALUES (?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	body := string(data[:len(data)/t.rows])
	for range exchanges * t.rows {
		if _, err := insert.Exec(body); err != nil {
			return err
		}
	}
	return tx.Commit()
}
