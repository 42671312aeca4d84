package access_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/access"
)

func TestScopes(t *testing.T) {
	for _, test := range []struct {
		text string
		want string
		list []access.Scope
	}{
		{"", "", nil},
		{"read", "read", []access.Scope{access.Read}},
		{"admin, read", "read,admin", []access.Scope{access.Read, access.Admin}},
		{"write,write", "write", []access.Scope{access.Write}},
		{"admin,write,read", "read,write,admin", []access.Scope{access.Read, access.Write, access.Admin}},
	} {
		set, err := access.ParseScopes(test.text)
		if err != nil || set.String() != test.want || !slices.Equal(set.List(), test.list) {
			t.Errorf("%q: got %s %v, %v", test.text, set, set.List(), err)
		}
		for _, scope := range []access.Scope{access.Read, access.Write, access.Admin} {
			if set.Has(scope) != slices.Contains(test.list, scope) {
				t.Errorf("%q: has %s: %v", test.text, scope, set.Has(scope))
			}
		}
	}
	if access.Everything().Has("root") {
		t.Error("a scope that there is not is in the set of all")
	}
}

func TestScopesOfRefusesWhatIsNone(t *testing.T) {
	var field *access.FieldError
	if _, err := access.ParseScopes("read,root"); !errors.As(err, &field) || field.Name != "scopes" || field.Problem != `"root" is not a scope` {
		t.Errorf("got %v", err)
	}
}

func TestAnyone(t *testing.T) {
	if got, want := access.Anyone("acme"), (access.Caller{Tenant: "acme", Scopes: access.Everything()}); got != want {
		t.Errorf("got %+v", got)
	}
}
