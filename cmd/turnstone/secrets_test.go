package main

import (
	"strings"
	"testing"
)

func TestProtect(t *testing.T) {
	for _, test := range []struct {
		url     string
		secrets []string
		kept    []string // what may be shown
	}{
		{"postgres://app:pass1@db:5432/main", []string{"pass1"}, []string{"app", "db:5432", "main"}},
		{"postgres://app:p%40ss1@db/main", []string{"p%40ss1", "p@ss1"}, []string{"app"}},
		{"postgres://app:a+b%2Bc@db/main", []string{"a+b%2Bc", "a+b+c", "a b+c"}, []string{"app"}},
		{"postgres://app:pa@ss@db/main", []string{"pa@ss"}, []string{"app", "main"}},
		{"postgres://app:pass1@db/main?options=a@b", []string{"pass1"}, []string{"app"}},
		{"postgres://db/main?password=pass2&sslmode=disable", []string{"pass2"}, []string{"db/main", "disable"}},
		{"postgresql://db/main?user=u&SSLPassword=pass3", []string{"pass3"}, []string{"user=u"}},
		{"postgres://app@db/main", nil, []string{"app@db/main"}},
		{"postgres://app:@db/main", nil, []string{"app:@db/main"}},
		{"postgres://app:%zz@db/main", []string{"%zz"}, []string{"app"}},
	} {
		a := &app{}
		a.protect(test.url)
		text := a.redact(test.url + " and " + strings.Join(test.secrets, " and "))
		for _, secret := range test.secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %q shows in %q", test.url, secret, text)
			}
		}
		for _, plain := range test.kept {
			if !strings.Contains(text, plain) {
				t.Errorf("%s: %q is gone from %q", test.url, plain, text)
			}
		}
	}
}
