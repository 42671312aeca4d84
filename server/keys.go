package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/turn"
)

func (s *Server) registerKeys(api huma.API) {
	handle(s, api, route{
		method: http.MethodGet, path: "/keys", id: "listKeys", tag: "keys", scope: access.Admin,
		summary: "The keys of the tenant, oldest first, also those that were revoked",
	}, listKeys)
	handle(s, api, route{
		method: http.MethodPost, path: "/keys", id: "createKey", tag: "keys", scope: access.Admin, status: http.StatusCreated,
		summary: "Make a key", about: "The secret is told here once, and kept nowhere.",
	}, createKey)
	handle(s, api, route{
		method: http.MethodDelete, path: "/keys/{key}", id: "revokeKey", tag: "keys", scope: access.Admin, status: http.StatusNoContent,
		summary: "Revoke a key", about: "It opens nothing any more: at once here, and within two seconds at every other replica. Again is no error.",
	}, revokeKey)
}

// accessKey is a key, without what opens anything.
type accessKey struct {
	ID        string         `json:"id"`
	Tenant    string         `json:"tenant"`
	Name      string         `json:"name,omitempty"`
	Scopes    []access.Scope `json:"scopes"`
	CreatedAt string         `json:"created_at" format:"date-time"`
	RevokedAt string         `json:"revoked_at,omitempty" format:"date-time"`
	Secret    string         `json:"secret,omitempty" doc:"what to show as Authorization: Bearer; told once, when the key is made"`
}

func newAccessKey(k access.Key) accessKey {
	made := accessKey{ID: k.ID, Tenant: k.Tenant, Name: k.Name, Scopes: listOf(k.Scopes.List()), CreatedAt: timeText(k.CreatedAt)}
	if !k.RevokedAt.IsZero() {
		made.RevokedAt = timeText(k.RevokedAt)
	}
	return made
}

func listKeys(ctx context.Context, eng *turnstone.Engine, _ *nothing) (*answer[page[accessKey]], error) {
	keys, err := eng.Keys(ctx)
	if err != nil {
		return nil, err
	}
	return answered(pageOf(keys, newAccessKey)), nil
}

type createKeyInput struct {
	Body struct {
		Name   string         `json:"name,omitempty" maxLength:"128" doc:"what it is for"`
		Scopes []access.Scope `json:"scopes" minItems:"1" maxItems:"3" enum:"read,write,admin" doc:"what it opens"`
	}
}

func createKey(ctx context.Context, eng *turnstone.Engine, in *createKeyInput) (*answer[accessKey], error) {
	scopes, err := access.ScopesOf(in.Body.Scopes...)
	if err != nil {
		return nil, err
	}
	secret, k, err := eng.CreateKey(ctx, in.Body.Name, scopes)
	if err != nil {
		return nil, err
	}
	made := newAccessKey(k)
	made.Secret = secret
	return answered(made), nil
}

func revokeKey(ctx context.Context, eng *turnstone.Engine, in *struct {
	Key string `path:"key" minLength:"1" maxLength:"128" doc:"the key's id"`
}) (*nothing, error) {
	err := eng.RevokeKey(ctx, in.Key)
	if errors.Is(err, access.ErrUnknownKey) {
		// To whoever calls, this is a thing that is not there, not a key that was shown.
		err = fmt.Errorf("key %s: %w", in.Key, turn.ErrNotFound)
	}
	return &nothing{}, err
}
