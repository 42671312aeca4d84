package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

const (
	prefix      = "ts_"
	secretBytes = 32
	maxName     = 128
)

// letters are lower case without padding, so that a double click takes the whole secret.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Key is what is kept of a key: never its secret.
type Key struct {
	ID     string // ULID, the same for nobody else in the store
	Tenant string
	// Name tells people what the key is for. It may be empty and need not be unique.
	Name   string
	Scopes Scopes
	// Hash is the SHA-256 of the secret's random part.
	Hash      [sha256.Size]byte
	CreatedAt time.Time
	RevokedAt time.Time // zero while the key is good
}

// New makes a key of that id and the one secret that opens it, which nobody can learn from the key. The error is a
// *[FieldError].
func New(id, tenant, name string, scopes Scopes, now time.Time) (secret string, k Key, err error) {
	k = Key{ID: id, Tenant: tenant, Name: name, Scopes: scopes, CreatedAt: now}
	if err := k.check(); err != nil {
		return "", Key{}, err
	}
	random := make([]byte, secretBytes)
	// Returns no error, ever: without the system's randomness the program ends.
	rand.Read(random)
	k.Hash = sha256.Sum256(random)
	return prefix + strings.ToLower(id) + "_" + letters.EncodeToString(random), k, nil
}

func (k *Key) check() error {
	if !ids.Valid(k.ID) {
		return invalid.New("id", fmt.Sprintf("%q is not a ULID", k.ID), "")
	}
	if err := ids.CheckName("tenant", k.Tenant); err != nil {
		return err
	}
	if len(k.Name) > maxName || !utf8.ValidString(k.Name) || strings.ContainsFunc(k.Name, control) {
		return invalid.New("name", fmt.Sprintf("is longer than %d bytes or holds a character that cannot be shown", maxName), "use a few words")
	}
	if k.Scopes == 0 || k.Scopes&^Everything() != 0 {
		return invalid.New("scopes", "names no scope", "use read, write and admin")
	}
	return nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// Secret is what a caller showed, taken apart but not yet found good. It keeps the random part as its hash only.
type Secret struct {
	ID   string // of the key it may open
	hash [sha256.Size]byte
}

// Parse takes a secret apart. ErrUnknownKey for what cannot be one, without looking anywhere.
func Parse(secret string) (Secret, error) {
	id, random, _ := strings.Cut(strings.TrimPrefix(secret, prefix), "_")
	id = strings.ToUpper(id)
	if !strings.HasPrefix(secret, prefix) || !ids.Valid(id) {
		return Secret{}, ErrUnknownKey
	}
	raw, err := letters.DecodeString(random)
	if err != nil || len(raw) != secretBytes {
		return Secret{}, ErrUnknownKey
	}
	return Secret{ID: id, hash: sha256.Sum256(raw)}, nil
}

// Verify returns who calls with the secret. ErrUnknownKey if the secret is not the key's or the key was revoked. It
// takes the same time for every wrong secret.
func (k *Key) Verify(s Secret) (Caller, error) {
	same := subtle.ConstantTimeCompare(k.Hash[:], s.hash[:])
	if same != 1 || k.ID != s.ID || !k.RevokedAt.IsZero() {
		return Caller{}, ErrUnknownKey
	}
	return Caller{Key: k.ID, Tenant: k.Tenant, Scopes: k.Scopes}, nil
}
