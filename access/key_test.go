package access_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/access"
)

const id = "01JD0000000000000000000000"

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func made(t *testing.T, id string) (string, access.Key) {
	t.Helper()
	secret, key, err := access.New(id, "acme", "the web site", access.Everything(), now)
	if err != nil {
		t.Fatal(err)
	}
	return secret, key
}

func TestNew(t *testing.T) {
	secret, key := made(t, id)
	want := access.Key{ID: id, Tenant: "acme", Name: "the web site", Scopes: access.Everything(), Hash: key.Hash, CreatedAt: now}
	if key != want {
		t.Errorf("got %+v", key)
	}
	random, ok := strings.CutPrefix(secret, "ts_01jd0000000000000000000000_")
	if !ok || len(random) != 52 {
		t.Errorf("got %s", secret)
	}
	if again, other := made(t, id); again == secret || other.Hash == key.Hash {
		t.Error("two keys have one secret")
	}
	if bytes.Contains(fmt.Append(nil, key), []byte(random)) {
		t.Error("the key shows its secret")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, test := range []struct {
		field, id, tenant, name string
		scopes                  access.Scopes
	}{
		{"id", "alice", "acme", "", access.Everything()},
		{"tenant", id, "", "", access.Everything()},
		{"name", id, "acme", "two\nlines", access.Everything()},
		{"name", id, "acme", "\x7f", access.Everything()},
		{"name", id, "acme", "\xff", access.Everything()},
		{"name", id, "acme", strings.Repeat("x", 129), access.Everything()},
		{"scopes", id, "acme", "", 0},
		{"scopes", id, "acme", "", access.Everything() + 1},
	} {
		secret, _, err := access.New(test.id, test.tenant, test.name, test.scopes, now)
		var field *access.FieldError
		if !errors.As(err, &field) || field.Name != test.field || secret != "" {
			t.Errorf("%+v: got %q, %v", test, secret, err)
		}
	}
	if _, _, err := access.New(id, "acme", strings.Repeat("x", 128), access.Everything(), now); err != nil {
		t.Errorf("a name as long as it may be: %v", err)
	}
}

func TestVerify(t *testing.T) {
	scopes, err := access.ScopesOf(access.Read)
	if err != nil {
		t.Fatal(err)
	}
	secret, key, err := access.New(id, "acme", "", scopes, now)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := access.Parse(secret)
	if err != nil || shown.ID != id {
		t.Fatalf("got %+v, %v", shown, err)
	}
	caller, err := key.Verify(shown)
	if want := (access.Caller{Key: id, Tenant: "acme", Scopes: scopes}); err != nil || caller != want {
		t.Errorf("got %+v, %v", caller, err)
	}
	if text := fmt.Sprintf("%+v", shown); strings.Contains(text, secret[len(secret)-20:]) {
		t.Errorf("what was shown can be read again: %s", text)
	}

	other, _ := made(t, id)
	revoked := key
	revoked.RevokedAt = now
	elsewhere := key
	elsewhere.ID = "01JD0000000000000000000001"
	for name, test := range map[string]struct {
		key    access.Key
		secret string
	}{
		"another's secret": {key, other},
		"revoked":          {revoked, secret},
		"another id":       {elsewhere, secret},
	} {
		shown, err := access.Parse(test.secret)
		if err != nil {
			t.Fatal(err)
		}
		if caller, err := test.key.Verify(shown); !errors.Is(err, access.ErrUnknownKey) || caller != (access.Caller{}) {
			t.Errorf("%s: got %+v, %v", name, caller, err)
		}
	}
}

func TestParseRefusesWhatIsNoSecret(t *testing.T) {
	secret, _ := made(t, id)
	for name, text := range map[string]string{
		"nothing":          "",
		"no prefix":        strings.TrimPrefix(secret, "ts_"),
		"another prefix":   "sk" + strings.TrimPrefix(secret, "ts"),
		"no random part":   "ts_01jd0000000000000000000000",
		"no id":            "ts__" + secret[30:],
		"too short":        secret[:len(secret)-8],
		"too long":         secret + "aaaaaaaa",
		"other letters":    secret[:len(secret)-1] + "!",
		"a word and an id": "ts_alice_" + secret[30:],
	} {
		if _, err := access.Parse(text); !errors.Is(err, access.ErrUnknownKey) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
