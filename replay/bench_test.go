package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// longBundle makes a bundle of n turns of about 400 bytes without a store.
func longBundle(b *testing.B, n int64, compress bool) []byte {
	b.Helper()
	at := time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC)
	session := turn.SessionInfo{Key: key("long"), Status: turn.Active, CreatedAt: at, LastActivity: at, Head: n}
	var out bytes.Buffer
	e, err := replay.NewEncoder(&out, replay.Bundle{CreatedAt: at, Session: session}, compress)
	if err != nil {
		b.Fatal(err)
	}
	words := strings.Repeat("so it was said and written down, ", 12)
	for seq := int64(1); seq <= n; seq++ {
		role := turn.User
		if seq%2 == 0 {
			role = turn.Agent
		}
		t := turn.Turn{
			ID: turngen.ID(uint64(seq)), Seq: seq, Role: role, Form: turn.FormText, Kind: turn.KindTurn,
			Content: turn.Text{Text: fmt.Sprint("Number ", seq, ": ", words)}, CreatedAt: at,
		}
		if err := e.Encode(replay.Record{Turn: &t}); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Encode(replay.Record{Revision: &dialogue.RevisionRow{State: dialogue.EncodeState(dialogue.State{}), At: at}}); err != nil {
		b.Fatal(err)
	}
	if _, err := e.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

const benchTurns = 20_000

func perTurn(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchTurns), "ns/turn")
}

func BenchmarkVerify(b *testing.B) {
	for _, compress := range []bool{false, true} {
		b.Run(fmt.Sprintf("compress=%v", compress), func(b *testing.B) {
			file := longBundle(b, benchTurns, compress)
			for b.Loop() {
				if _, err := verify(file); err != nil {
					b.Fatal(err)
				}
			}
			perTurn(b)
		})
	}
}

func BenchmarkImport(b *testing.B) {
	file := longBundle(b, benchTurns, false)
	for b.Loop() {
		st := mem.New(mem.Config{})
		if _, err := replay.Import(b.Context(), st, opener(file), replay.ImportOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	perTurn(b)
}

func BenchmarkWrite(b *testing.B) {
	st := mem.New(mem.Config{})
	if _, err := replay.Import(b.Context(), st, opener(longBundle(b, benchTurns, false)), replay.ImportOptions{}); err != nil {
		b.Fatal(err)
	}
	for _, compress := range []bool{false, true} {
		b.Run(fmt.Sprintf("compress=%v", compress), func(b *testing.B) {
			for b.Loop() {
				err := st.View(b.Context(), func(tx store.Tx) error {
					_, err := replay.Write(b.Context(), tx, key("long"), io.Discard, replay.WriteOptions{Compress: compress})
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			perTurn(b)
		})
	}
}
