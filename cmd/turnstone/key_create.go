package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
)

func (a *app) keyCreateCommand() *cobra.Command {
	var scopes string
	cmd := &cobra.Command{
		Use:   "create [NAME]",
		Short: "Make a key and show it, once",
		Long: `Make a key of the tenant and print it. It cannot be shown again: only a hash of it is kept. NAME tells people what
it is for.

Scopes are read (see everything of the tenant), write (change what its conversations hold) and admin (keys, forgetting
users, copies of everything). None includes another. Clients send the key as "Authorization: Bearer KEY".`,
		Example:           "  turnstone key create \"web site\"\n  turnstone key create dashboard --scopes read\n  turnstone --tenant acme key create --scopes read,write,admin --json",
		Args:              arguments("[NAME]"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := access.ParseScopes(scopes)
			if err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), toMake, turnstone.Config{}, func(eng *turnstone.Engine) error {
				secret, k, err := eng.CreateKey(cmd.Context(), append(args, "")[0], set)
				if err != nil {
					return err
				}
				a.stored = fmt.Sprintf("key %s is made (revoke it with: %s)", k.ID, a.line("key revoke "+k.ID)) // nobody will ever know it
				if a.json {
					shown := keyOf(k)
					shown.Secret = secret
					return a.printJSON(shown)
				}
				a.note("key %s opens tenant %s for %s; it is shown only this once", k.ID, k.Tenant, k.Scopes)
				return a.printf("%s", secret)
			})
		},
	}
	cmd.Flags().StringVar(&scopes, "scopes", "read,write", "what it allows: `read,write,admin` or some of them")
	choices(cmd, "scopes", "read", "read,write", "read,write,admin")
	return cmd
}
