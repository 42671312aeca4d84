package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
)

func (a *app) keyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID...",
		Short: "Have keys open nothing any more",
		Long: `Have the keys of these ids open nothing any more, for good. Servers that run notice within two seconds. A key that was
revoked before stays so. Of several each is an update of its own: those before one that there is not are revoked.`,
		Example:           "  turnstone key revoke 01JH5T8Q3VXK6Z0M4N7P9R2S1W",
		Args:              arguments("ID..."),
		ValidArgsFunction: a.completeKeys,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				for _, id := range ids {
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
