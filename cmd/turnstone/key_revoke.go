package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
)

func (a *app) keyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke KEY...",
		Short: "Have keys open nothing any more",
		Long: `Have keys open nothing any more, for good. A KEY is an id, or the name of one key that was not revoked yet. Servers that
run notice within two seconds. A key that was revoked before stays so. Of several each is an update of its own: those
before one that there is not are revoked.`,
		Example:           "  turnstone key revoke 01JH5T8Q3VXK6Z0M4N7P9R2S1W\n  turnstone key revoke \"web site\"",
		Args:              arguments("KEY..."),
		ValidArgsFunction: a.completeKeys,
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				keys, err := eng.Keys(cmd.Context())
				if err != nil {
					return err
				}
				for _, word := range given {
					id, err := keyMeant(keys, word)
					if err != nil {
						return advise(err, access.ErrUnknownKey, "see which there are with: "+a.line("key list"))
					}
					if err := eng.RevokeKey(cmd.Context(), id); err != nil {
						return advise(err, access.ErrUnknownKey, "see which there are with: "+a.line("key list"))
					}
					a.note("revoked key %s", id)
				}
				return nil
			})
		},
	}
}

// keyMeant is the id of the key that a word names: an id goes before a name.
func keyMeant(keys []access.Key, word string) (string, error) {
	var named []string
	for _, k := range keys {
		if strings.EqualFold(k.ID, word) {
			return k.ID, nil
		}
		if k.Name == word && word != "" && k.RevokedAt.IsZero() {
			named = append(named, k.ID)
		}
	}
	switch len(named) {
	case 0:
		return "", fmt.Errorf("key %q: %w", word, access.ErrUnknownKey)
	case 1:
		return named[0], nil
	}
	return "", usage("give one of the ids "+strings.Join(named, ", "), "key %q: %d keys have this name", word, len(named))
}
