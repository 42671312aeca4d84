package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
)

func (a *app) keyListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the keys of the tenant, oldest first",
		Long:    "List the keys of the tenant, oldest first, also those that were revoked. The keys themselves are kept nowhere.",
		Example: "  turnstone key list\n  turnstone --tenant acme key list --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
				keys, err := eng.Keys(cmd.Context())
				if err != nil {
					return err
				}
				return a.listKeys(keys)
			})
		},
	}
}

func (a *app) listKeys(keys []access.Key) error {
	if len(keys) == 0 {
		a.note("no keys")
	}
	format := a.format()
	var rows [][]string
	for _, k := range keys {
		if a.json {
			if err := a.printJSON(keyOf(k)); err != nil {
				return err
			}
			continue
		}
		revoked := ""
		if !k.RevokedAt.IsZero() {
			revoked = format.Time(k.RevokedAt)
		}
		rows = append(rows, []string{k.ID, k.Name, k.Scopes.String(), format.Time(k.CreatedAt), revoked})
	}
	if a.json {
		return nil
	}
	return a.table([]string{"ID", "NAME", "SCOPES", "CREATED", "REVOKED"}, rows)
}
