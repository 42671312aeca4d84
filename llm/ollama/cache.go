package ollama

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

// An entry of the cache is the magic, the SHA-256 of what follows it, and the packed vocabulary, compressed.
const (
	magic  = "turnstone vocabulary 1\n"
	suffix = ".vocabulary"
	// maxEntry bounds what is read of an entry, maxPacked what it decompresses to.
	maxEntry  = maxVerbose
	maxPacked = 2 * maxVerbose
)

var errDamaged = errors.New("the entry is damaged")

// entry is the place of a vocabulary; digests are checked and cannot lead elsewhere.
func (c *Client) entry(digest string) string { return filepath.Join(c.cache, digest+suffix) }

// cached reads an entry of the cache. fs.ErrNotExist if there is none.
func (c *Client) cached(digest string) (v bpe.Vocabulary, err error) {
	file, err := os.Open(c.entry(digest))
	if err != nil {
		return bpe.Vocabulary{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err := io.ReadAll(io.LimitReader(file, maxEntry))
	if err != nil {
		return bpe.Vocabulary{}, err
	}
	rest, is := bytes.CutPrefix(text, []byte(magic))
	if !is || len(rest) < sha256.Size {
		return bpe.Vocabulary{}, errDamaged
	}
	if sum := sha256.Sum256(rest[sha256.Size:]); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return bpe.Vocabulary{}, errDamaged
	}
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPacked))
	if err != nil {
		return bpe.Vocabulary{}, err
	}
	defer reader.Close()
	packed, err := reader.DecodeAll(rest[sha256.Size:], nil)
	if err != nil {
		return bpe.Vocabulary{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return unpack(packed)
}

// store writes an entry of the cache: all of it or nothing.
func (c *Client) store(digest string, v bpe.Vocabulary) error {
	writer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	compressed := writer.EncodeAll(pack(v), nil)
	if err := writer.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.cache, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(c.cache, "."+digest[:12]+"-*")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(compressed)
	for _, part := range [][]byte{[]byte(magic), sum[:], compressed} {
		if _, err = file.Write(part); err != nil {
			break
		}
	}
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), c.entry(digest))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
