package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
)

func (a *app) keyCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "key",
		Short: "Make, list and revoke the keys that a server asks for",
		Long: `A key opens the sessions of one tenant to whoever shows it to a server, for the scopes it was made with. Only a
hash of it is kept: it is shown once, when it is made.`,
		Example: "  turnstone key create \"web site\" --scopes read,write\n  turnstone key list",
	}, a.keyCreateCommand(), a.keyListCommand(), a.keyRevokeCommand())
}

type keyJSON struct {
	ID        string         `json:"id"`
	Tenant    string         `json:"tenant"`
	Name      string         `json:"name,omitempty"`
	Scopes    []access.Scope `json:"scopes"`
	CreatedAt string         `json:"created_at"`
	RevokedAt string         `json:"revoked_at,omitempty"`
	Secret    string         `json:"secret,omitempty"`
}

func keyOf(k access.Key) keyJSON {
	j := keyJSON{ID: k.ID, Tenant: k.Tenant, Name: k.Name, Scopes: k.Scopes.List(), CreatedAt: timeJSON(k.CreatedAt)}
	if !k.RevokedAt.IsZero() {
		j.RevokedAt = timeJSON(k.RevokedAt)
	}
	return j
}

// completeKeys offers the keys that can still be revoked.
func (a *app) completeKeys(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if p, err := a.storePlace(); err != nil || p.path != "" && !isFile(p.path) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []cobra.Completion
	err := a.withEngine(cmd.Context(), toUse, turnstone.Config{}, func(eng *turnstone.Engine) error {
		keys, err := eng.Keys(cmd.Context())
		for _, k := range keys {
			if k.RevokedAt.IsZero() {
				ids = append(ids, cobra.CompletionWithDesc(k.ID, k.Name))
			}
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
