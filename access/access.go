// Package access is who may do what: the keys that callers show, the tenant each of them opens and its scopes.
//
// A key is shown once, when it is made, as a secret of the form ts_<id>_<random>. What is kept of it is the SHA-256 of
// the random part, which cannot be turned back and, being of 256 random bits, cannot be guessed either; so that a
// slow hash would only cost time. The package owns that: no secret is ever stored, and a key that was revoked opens
// nothing.
package access

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// FieldError is the error for input that breaks a rule; found with errors.As.
type FieldError = invalid.Field

// ErrUnknownKey says that a secret opens nothing: it is no key, not one of ours, or revoked. Which of these is not
// for the caller to know.
var ErrUnknownKey = errors.New("no such key")

// ErrExists says that there is a key of that id already.
var ErrExists = errors.New("key exists already")

// Scope is one thing that a caller may do. Names are never changed.
type Scope string

// The scopes there are. None includes another: a key that may write and not read can only add.
const (
	// Read is to see everything of the tenant but its keys.
	Read Scope = "read"
	// Write is to change what the tenant's conversations hold.
	Write Scope = "write"
	// Admin is to make and revoke keys, to forget users and to copy everything.
	Admin Scope = "admin"
)

// every is all scopes in the order in which sets of them are written.
var every = [...]Scope{Read, Write, Admin}

// Scopes is a set of scopes. The zero value is none, which opens nothing.
type Scopes uint8

// ScopesOf returns the set of the given scopes. The error is a *[FieldError] for one that is not a scope.
func ScopesOf(scopes ...Scope) (Scopes, error) {
	var set Scopes
	for _, s := range scopes {
		bit := s.bit()
		if bit == 0 {
			return 0, invalid.New("scopes", fmt.Sprintf("%q is not a scope", s), "use read, write and admin")
		}
		set |= bit
	}
	return set, nil
}

// ParseScopes reads what [Scopes.String] writes: names with commas between them, in any order. The error is a
// *[FieldError].
func ParseScopes(text string) (Scopes, error) {
	var scopes []Scope
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			scopes = append(scopes, Scope(name))
		}
	}
	return ScopesOf(scopes...)
}

// Everything is the set of all scopes.
func Everything() Scopes {
	var set Scopes
	for _, s := range every {
		set |= s.bit()
	}
	return set
}

func (s Scope) bit() Scopes {
	for i, known := range every {
		if s == known {
			return 1 << i
		}
	}
	return 0
}

// Has reports whether the set holds the scope.
func (s Scopes) Has(scope Scope) bool { return s&scope.bit() != 0 }

// List returns the scopes of the set: read, write, admin, those it holds, in this order.
func (s Scopes) List() []Scope {
	var list []Scope
	for _, scope := range every {
		if s.Has(scope) {
			list = append(list, scope)
		}
	}
	return list
}

// String is the names with commas between them: "read,write".
func (s Scopes) String() string {
	var names []string
	for _, scope := range s.List() {
		names = append(names, string(scope))
	}
	return strings.Join(names, ",")
}

// Caller is who calls, once the secret was found good.
type Caller struct {
	Key    string // the key's id, for logs and limits; empty where no key was asked for
	Tenant string
	Scopes Scopes
}

// Anyone is the caller who needs no key: everything of one tenant.
func Anyone(tenant string) Caller { return Caller{Tenant: tenant, Scopes: Everything()} }
