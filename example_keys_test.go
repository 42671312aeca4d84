package turnstone_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// A key opens its tenant to whoever shows its secret, until it is revoked.
func ExampleEngine_CreateKey() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Tenant: "acme"}))
	defer eng.Close()
	secret, key, err := eng.CreateKey(ctx, "web site", must(access.ScopesOf(access.Read, access.Write)))
	if err != nil {
		panic(err)
	}
	caller := must(eng.Identify(ctx, secret))
	fmt.Println(caller.Tenant, caller.Scopes, caller.Scopes.Has(access.Admin))

	if err := eng.RevokeKey(ctx, key.ID); err != nil {
		panic(err)
	}
	_, err = eng.Identify(ctx, secret)
	fmt.Println(errors.Is(err, access.ErrUnknownKey), must(eng.Keyed(ctx)))
	for _, k := range must(eng.Keys(ctx)) {
		fmt.Println(k.Name, k.RevokedAt.IsZero())
	}
	// Output:
	// acme read,write false
	// true false
	// web site false
}
