package storetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func picture(b turn.Blob) turn.Draft {
	return turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: b}}
}

func testBlobs(t *testing.T, open opener) {
	w := newWorld(t, open)
	k := w.create(w.key("pictures")).Key
	data := []byte{0, 1, 2, 0xff, 0, '\'', '\\'}
	ref := turn.Blob{SHA256: hash(data), Size: int64(len(data))}
	read := func(tenant, hash string) (b turn.Blob, err error) {
		err = w.View(w.ctx(), func(tx store.Tx) (err error) {
			b, err = tx.Log().Blob(w.ctx(), tenant, hash)
			return err
		})
		return b, err
	}

	w.run("bytes are kept under their hash, and the turn names them", func(t *testing.T) {
		own := bytes.Clone(data)
		turns := w.append(k, picture(turn.Blob{Data: own}))
		clear(own)
		want := turn.Image{MediaType: "image/png", Blob: ref}
		same(t, "returned", turns[0].Content, turn.Content(want))
		same(t, "read", w.log(k)[0].Content, turn.Content(want))
		b, err := read(k.Tenant, ref.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "blob", b, turn.Blob{SHA256: ref.SHA256, Size: ref.Size, Data: data})
		clear(b.Data)
		if b, err = read(k.Tenant, ref.SHA256); err != nil || !bytes.Equal(b.Data, data) {
			t.Errorf("a reader changed the bytes: %v, %v", b.Data, err)
		}
	})

	w.run("the same bytes are kept once per tenant, however often they are sent or named", func(t *testing.T) {
		w.append(k, picture(turn.Blob{Data: data}), picture(ref),
			turn.Draft{Role: turn.User, Content: turn.Speech{Transcript: "hm", Audio: &turn.Audio{MediaType: "audio/ogg", Blob: turn.Blob{Data: data}}}})
		other := turn.Key{Tenant: "other", Session: "pictures"}
		w.create(other)
		w.append(other, picture(turn.Blob{Data: data}))
		rows := map[string]int{}
		for _, row := range w.rows("blobs") {
			rows[row.Values[0].(string)]++
		}
		same(t, "blobs", rows, map[string]int{k.Tenant: 1, "other": 1})
		if n := len(w.rows("blob_refs")); n != 5 {
			t.Errorf("%d references, want 5", n)
		}
	})

	w.run("naming bytes needs bytes of that hash and size in the tenant", func(t *testing.T) {
		stranger := turn.Key{Tenant: "stranger", Session: "pictures"}
		w.create(stranger)
		_, err := w.try(stranger, picture(ref))
		refused(t, "another tenant's", err, "content.sha256")
		_, err = w.try(k, picture(turn.Blob{SHA256: hash([]byte("never seen")), Size: 1}))
		refused(t, "unknown", err, "content.sha256")
		_, err = w.try(k, picture(turn.Blob{SHA256: ref.SHA256, Size: ref.Size + 1}))
		refused(t, "another size", err, "content.size")
		if n := len(w.log(stranger)); n != 0 {
			t.Errorf("%d turns written", n)
		}
		_, err = read("stranger", ref.SHA256)
		is(t, "read", err, turn.ErrNotFound)
		is(t, "size", w.View(w.ctx(), func(tx store.Tx) error {
			_, err := tx.Log().BlobSize(w.ctx(), "stranger", ref.SHA256)
			return err
		}), turn.ErrNotFound)
	})

	w.run("a large blob comes back whole", func(t *testing.T) {
		large := bytes.Repeat([]byte("0123456789abcdef\x00"), 1<<16)
		w.append(k, picture(turn.Blob{Data: large}))
		b, err := read(k.Tenant, hash(large))
		if err != nil || !bytes.Equal(b.Data, large) || b.Size != int64(len(large)) {
			t.Errorf("%d bytes, size %d, %v", len(b.Data), b.Size, err)
		}
	})

	w.run("sweep", func(t *testing.T) { testSweep(t, open) })
}

// testSweep loads blobs that nothing refers to, as they are left behind when what referred to
// them is gone.
func testSweep(t *testing.T, open opener) {
	w := newWorld(t, open)
	kept := turn.Key{Tenant: "m", Session: "s"}
	w.create(kept)
	w.append(kept, picture(turn.Blob{Data: []byte("kept")}))
	orphan := func(tenant, name string, wanted time.Time) store.Row {
		return store.Row{Table: "blobs", Values: []any{tenant, hash([]byte(name)), int64(len(name)), []byte(name), wanted.UnixMicro()}}
	}
	var rows []store.Row
	for _, row := range w.rows() {
		if row.Table == "blobs" {
			row.Values[4] = noon.Add(-time.Hour).UnixMicro()
			rows = append(rows, orphan("a", "old", noon.Add(-time.Microsecond)), orphan("b", "exact", noon))
		}
		rows = append(rows, row)
	}

	w = newWorld(t, open)
	w.load(rows)
	sweep := func(before time.Time) (n int64) {
		w.update(func(tx store.Tx) (err error) {
			loose, err := tx.Log().LooseBlobs(w.ctx(), before, 9)
			if err == nil {
				n, err = tx.Log().SweepBlobs(w.ctx(), before, loose)
			}
			return err
		})
		return n
	}
	there := func() (names []string) {
		for _, row := range w.rows("blobs") {
			names = append(names, string(row.Values[3].([]byte)))
		}
		return names
	}
	w.run("only what is loose is found, up to the limit, and swept", func(t *testing.T) {
		late := noon.Add(time.Hour)
		for limit := range 4 {
			err := w.View(w.ctx(), func(tx store.Tx) error {
				loose, err := tx.Log().LooseBlobs(w.ctx(), late, limit)
				same(t, "found", len(loose), min(limit, 2))
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		w.update(func(tx store.Tx) error {
			n, err := tx.Log().SweepBlobs(w.ctx(), late, []turn.BlobKey{
				{Tenant: kept.Tenant, SHA256: hash([]byte("kept"))}, {Tenant: "b", SHA256: hash([]byte("old"))}, {Tenant: "a", SHA256: hash([]byte("never seen"))},
			})
			same(t, "swept of what is wanted, another tenant's or not there", n, int64(0))
			return err
		})
	})
	same(t, "nothing is old enough", sweep(noon.Add(-time.Microsecond)), int64(0))
	same(t, "blobs", there(), []string{"old", "exact", "kept"})
	same(t, "one is", sweep(noon), int64(1))
	same(t, "blobs", there(), []string{"exact", "kept"})

	w.run("bytes wanted again are safe for the grace period", func(t *testing.T) {
		again := turn.Key{Tenant: "b", Session: "s"}
		w.create(again)
		w.append(again, picture(turn.Blob{SHA256: hash([]byte("exact")), Size: 5}))
		same(t, "swept", sweep(noon.Add(48*time.Hour)), int64(0))
		same(t, "blobs", there(), []string{"exact", "kept"})
	})
}
