package main

import (
	"net/url"
	"strings"
)

const blackened = "xxxxx"

// protect remembers the passwords in a database's URL, so that nothing printed ever holds them.
func (a *app) protect(address string) {
	_, rest, _ := strings.Cut(address, "://")
	_, login, _ := strings.Cut(rest, ":")
	// A password that was not escaped may hold an @ itself: whichever ends it, it is covered.
	for i := range len(login) {
		if login[i] == '@' {
			a.keep(login[:i])
		}
	}
	_, query, _ := strings.Cut(rest, "?")
	for _, pair := range strings.Split(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); strings.Contains(strings.ToLower(name), "password") {
			a.keep(value)
		}
	}
}

// keep adds a secret as it is written in the URL and as it is meant.
func (a *app) keep(secret string) {
	for _, unescape := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
		if plain, err := unescape(secret); err == nil && plain != "" && plain != secret {
			a.secrets = append(a.secrets, plain)
		}
	}
	if secret != "" {
		a.secrets = append(a.secrets, secret)
	}
}

// redact blackens every secret in a text.
func (a *app) redact(text string) string {
	for _, secret := range a.secrets {
		text = strings.ReplaceAll(text, secret, blackened)
	}
	return text
}
