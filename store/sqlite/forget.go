package sqlite

import (
	"cmp"
	"context"
	"math"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// forgettingRows is the transaction as forgetting sees it.
type forgettingRows struct{ *tx }

// Forgetting implements [store.Tx].
func (t *tx) Forgetting() store.Forgetting { return forgettingRows{t} }

// rewrite is a row that is to be written over or deleted.
type rewrite struct {
	verdict store.Verdict
	key     []any
	before  []any // all values
	columns []int
	values  []any // of the columns
}

// Rewrite implements [store.Forgetting].
func (r forgettingRows) Rewrite(ctx context.Context, tenant, name string, among store.Among, fn func([]any) (store.Verdict, error)) (int, error) {
	if err := r.reading(ctx); err != nil {
		return 0, err
	}
	table, err := store.Rewritable(name, among)
	if err != nil || among.None() {
		return 0, err
	}
	column, wanted, some := among.Column()
	if !some {
		column, wanted = "tenant", []any{tenant}
	}
	var rewrites []rewrite
	left := cmp.Or(among.Limit, math.MaxInt)
	for _, value := range wanted {
		if rewrites, err = r.judge(ctx, table, tenant, column, value, fn, &left, rewrites); err != nil {
			return 0, err
		}
	}
	if len(rewrites) == 0 {
		return 0, nil
	}
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	if name == "turns" {
		if err := r.unindex(ctx, table, rewrites); err != nil {
			return 0, err
		}
	}
	for i := range rewrites {
		if err := r.apply(ctx, table, &rewrites[i]); err != nil {
			return 0, err
		}
	}
	return len(rewrites), r.wanted(freePages)
}

// judge asks what becomes of the rows with a value in a column, of as many as are left to ask about.
func (r forgettingRows) judge(ctx context.Context, table *store.Table, tenant, column string, value any, fn func([]any) (store.Verdict, error), left *int, rewrites []rewrite) ([]rewrite, error) {
	q := r.c.Prepare(selectInOrder(table, column)).Text(tenant).Value(value)
	defer q.Close()
	for ; *left > 0; *left-- {
		if err := r.reading(ctx); err != nil {
			return nil, err
		}
		more, err := q.Step()
		if err != nil || !more {
			return rewrites, r.fail(err)
		}
		values := make([]any, len(table.Columns))
		for i := range values {
			values[i] = q.ReadValue()
		}
		w := rewrite{before: append([]any{}, values...)}
		if w.verdict, w.columns, err = table.Judge(values, fn); err != nil {
			return nil, err
		}
		if w.verdict == store.Keep {
			continue
		}
		for _, name := range table.Key {
			w.key = append(w.key, w.before[table.Position(name)])
		}
		for _, i := range w.columns {
			w.values = append(w.values, values[i])
		}
		rewrites = append(rewrites, w)
	}
	return rewrites, nil
}

func (r forgettingRows) apply(ctx context.Context, table *store.Table, w *rewrite) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	where, key := ` WHERE `+strings.Join(table.Key, ` = ? AND `)+` = ?`, w.key
	p := placesOf(table.Name)
	if p != nil {
		where, key = ` WHERE `+p.row+` = `+p.at(p.is(len(w.columns)+1)), p.of(w.key)
	}
	sql := `DELETE FROM ` + table.Name + where
	if w.verdict == store.Change {
		names := columnNames(*table)
		set := make([]string, len(w.columns))
		for i, c := range w.columns {
			set[i] = names[c] + ` = ?`
		}
		sql = `UPDATE ` + table.Name + ` SET ` + strings.Join(set, ", ") + where
	}
	q := r.c.Prepare(sql)
	for _, v := range append(w.values, key...) {
		q.Value(v)
	}
	err := r.fail(q.Run())
	if p != nil && err == nil && w.verdict == store.Delete {
		err = r.unplace(p, w.key)
	}
	return err
}

// unindex takes the words of turns out of the full-text index. What is not in it yet is put in first: the mark moves by
// that, so that nobody who read the turns before adds their words later; see addPiece.
func (r forgettingRows) unindex(ctx context.Context, table *store.Table, rewrites []rewrite) error {
	at := func(w *rewrite, column string) any { return w.before[table.Position(column)] }
	last := make(map[textSource]int64)
	for i := range rewrites {
		w := &rewrites[i]
		source := textSource{at(w, "tenant").(string), at(w, "segment").(int64)}
		last[source] = max(last[source], at(w, "seq").(int64))
	}
	for source, through := range last {
		for {
			piece, _, err := r.readPiece(ctx, []target{{source, through}})
			if err != nil {
				return err
			}
			if len(piece) == 0 {
				break
			}
			if _, err := r.addPiece(ctx, piece); err != nil {
				return err
			}
		}
	}
	for i := range rewrites {
		w := &rewrites[i]
		content, err := turn.DecodeContent(turn.Role(at(w, "role").(string)), turn.Form(at(w, "form").(string)), at(w, "content").(string))
		if err != nil {
			continue // it was not put in; see readChapter
		}
		terms := words.Set(content.Searchable())
		if len(terms) == 0 {
			continue
		}
		segment := at(w, "segment").(int64)
		id, _, err := one(r.tx, r.c.Prepare(`SELECT id FROM turns WHERE id = `+turnPlaces.at(turnPlaces.is(1))).Int(turnPlace(segment, at(w, "seq").(int64))), readInt)
		if err != nil {
			return err
		}
		err = r.c.Prepare(`INSERT INTO turn_text (turn_text, rowid, terms) VALUES ('delete', ?, ?)`).
			Int(id).Text(segmentTerm(segment) + " " + strings.Join(terms, " ")).Run()
		if err != nil {
			return r.fail(err)
		}
	}
	return r.wanted(turnWords)
}
