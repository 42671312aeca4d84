package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// light keeps the follow-up context in rows that expire by the clock of transactions. What is
// written is not worth a wait for the disk and does not cause one: the table is unlogged.
type light struct{ store *Store }

// sweepEvery is how many times something is stored before expired rows are looked for, and
// sweepRows how many of them are then deleted at most.
const (
	sweepEvery = 64
	sweepRows  = 256
)

// lightNow is the time in microseconds: $1 or, where that is NULL, the database's.
const lightNow = `coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`

func (l light) now() any {
	if l.store.config.Clock == nil {
		return nil
	}
	return l.store.config.Clock().UnixMicro()
}

// Store implements [dialogue.LightStore].
func (l light) Store(ctx context.Context, key dialogue.LightKey, c dialogue.LightContext) error {
	return l.use(ctx, key, func(conn *pgx.Conn) error {
		if l.sweeps() {
			if err := l.sweep(ctx, conn); err != nil {
				return err
			}
		}
		_, err := conn.Exec(ctx, storeLightSQL, l.values(key, c)...)
		return err
	})
}

const storeLightSQL = `INSERT INTO light_contexts
	(tenant, session_id, last_intent, last_task_id, pending_fields, last_user_message, expires_at)
	VALUES ($3, $4, $5, $6, $7, $8, ` + lightNow + ` + $2)
	ON CONFLICT (tenant, session_id) DO UPDATE SET
		last_intent = excluded.last_intent, last_task_id = excluded.last_task_id, pending_fields = excluded.pending_fields,
		last_user_message = excluded.last_user_message, expires_at = excluded.expires_at`

// values are those of storeLightSQL.
func (l light) values(key dialogue.LightKey, c dialogue.LightContext) []any {
	fields := make([][]byte, len(c.PendingFields))
	for i, f := range c.PendingFields {
		fields[i] = []byte(f)
	}
	return []any{
		l.now(), l.store.config.LightTimeout.Microseconds(), key.Tenant, key.Session,
		toBytes(c.LastIntent), toBytes(c.LastTaskID), fields, toBytes(c.LastUserMessage),
	}
}

// sweeps reports whether it is time to look for expired rows.
func (l light) sweeps() bool { return l.store.stored.Add(1)%sweepEvery == 1 }

// sweepLightSQL deletes expired rows. One that is being written at this moment is no longer expired.
const sweepLightSQL = `DELETE FROM light_contexts WHERE (tenant, session_id) IN (
	SELECT tenant, session_id FROM light_contexts WHERE expires_at <= ` + lightNow + `
	ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

func (l light) sweep(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, sweepLightSQL, l.now(), sweepRows)
	if err != nil {
		return fmt.Errorf("expired follow-up contexts: %w", err)
	}
	return nil
}

// Retrieve implements [dialogue.LightStore].
func (l light) Retrieve(ctx context.Context, key dialogue.LightKey) (c dialogue.LightContext, ok bool, err error) {
	err = l.use(ctx, key, func(conn *pgx.Conn) error {
		var intent, task, message []byte
		var fields [][]byte
		err := conn.QueryRow(ctx, `SELECT last_intent, last_task_id, pending_fields, last_user_message FROM light_contexts
			WHERE tenant = $2 AND session_id = $3 AND expires_at > `+lightNow, l.now(), key.Tenant, key.Session).
			Scan(&intent, &task, &fields, &message)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		ok = true
		c = dialogue.LightContext{
			LastIntent: toText(intent), LastTaskID: toText(task), LastUserMessage: toText(message),
			PendingFields: make([]string, len(fields)),
		}
		for i, f := range fields {
			c.PendingFields[i] = string(f)
		}
		return nil
	})
	return c, ok, err
}

// Clear implements [dialogue.LightStore].
func (l light) Clear(ctx context.Context, key dialogue.LightKey) error {
	return l.use(ctx, key, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `DELETE FROM light_contexts WHERE tenant = $1 AND session_id = $2`, key.Tenant, key.Session)
		return err
	})
}

// use runs fn on a connection, again where that breaks: each of the three actions can be done twice.
func (l light) use(ctx context.Context, key dialogue.LightKey, fn func(*pgx.Conn) error) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.store.enter(); err != nil {
		return err
	}
	defer l.store.running.Done()
	return l.store.bare(ctx, fn)
}

// checkKey refuses keys that a column of text cannot hold.
func checkKey(key dialogue.LightKey) error {
	if err := key.Check(); err != nil {
		return err
	}
	for name, value := range map[string]string{"tenant": key.Tenant, "session": key.Session} {
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			return invalid.New(name, "is no text", "use UTF-8 without NUL")
		}
	}
	return nil
}

func toBytes(s *string) []byte {
	if s == nil {
		return nil
	}
	return append([]byte{}, *s...)
}

func toText(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}
