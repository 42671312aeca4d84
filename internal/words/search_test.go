package words_test

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/words"
)

// TestSearch shows what the terms are for: a text is found by a query if it has
// all of the query's terms.
func TestSearch(t *testing.T) {
	tests := []struct {
		query, text string
		found       bool
	}{
		{"decision", "We made several DECISIONS.", true},
		{"migrating schemas", "the schema was migrated", true},
		{"decide", "nothing was said", false},
		{"dont", "I don’t know", true},
		{"don't", "I dont know", true},
		{"école", "devant l'école", true},
		{"cafe", "le Café", true},
		{"CAFÉ", "le cafe\u0301", true},
		{"strasse", "Hauptstraße 5", false},
		{"straße", "STRASSE 5", true},
		{"foo_bar", "call foo_bar(1)", true},
		{"bar", "call foo_bar(1)", true},
		{"v1.2.3", "released v1.2.3 today", true},
		{"1.2.3", "released v1.2.3 today", false},
		{"store/sqlite", "see ./store/sqlite/tx.go:12", true},
		{"me@example.org", "mail ME@EXAMPLE.ORG", true},
		{"数据库", "新的数据库迁移", true},
		{"数据表", "新的数据库迁移", false},
		{"库", "新的数据库迁移", false},
		{"ガイド", "ｶﾞｲﾄﾞを読む", true},
		{"데이터", "데이터베이스", true},
		{"ทดสอบ", "การทดสอบสองรอบ", true},
		{"🎉", "shipped🎉", true},
		{"acme", "Acme™", true},
		{"1", "note¹", true},
		{"и", "й", false},
	}
	for _, tt := range tests {
		have := words.Set(tt.text)
		found := !slices.ContainsFunc(words.Set(tt.query), func(term string) bool {
			return !slices.Contains(have, term)
		})
		if found != tt.found {
			t.Errorf("%q finds %q: %v (%q in %q)", tt.query, tt.text, found, words.Set(tt.query), have)
		}
	}
}
