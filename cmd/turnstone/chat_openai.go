package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/turnstone-dev/turnstone/llm"
)

// openAIVoice is a model of a server with OpenAI's API. Only the provider's own server is not asked beforehand whether it is
// there and what it has.
func (a *app) openAIVoice(ctx context.Context, v voice, o chatOptions, k known, given string) (_ voice, err error) {
	if given != "" {
		if v.url, err = a.openAIURL(given, "http://127.0.0.1:8080/v1"); err != nil {
			return v, err
		}
		names, err := a.openAIModels(ctx, v.url, o.voice.keyEnv)
		// A server may show its list to fewer than may talk with a model whose name they know.
		if err != nil && (v.name == "" || !errors.Is(err, llm.ErrRefused)) {
			return v, err
		}
		if v.name == "" && len(names) == 1 {
			v.name = names[0]
		}
		if v.name == "" && len(names) > 1 {
			return v, usage("choose one with --model: "+short(strings.Join(names, ", "), maxLine), "model: the server at %s has %d", v.url, len(names))
		}
	}
	if v.name == "" {
		return v, usage("name one with --model", "model: a server with OpenAI's API does not say which is meant")
	}
	v.model = a.modelAt(a.modelHTTP(), apiOpenAI, v.url, o.voice.keyEnv, v.name)
	v.known = k
	v.profile, _ = k.profiles.Find(v.name)
	return v, nil
}

// openAIURL is the address of a server with OpenAI's API, as --url or the environment gives it. Without a scheme and a port it is
// an Ollama of this machine: elsewhere such a server has no usual port, and one that wants a key is not to be sent it in the open.
func (a *app) openAIURL(given, example string) (string, error) {
	bare, schemed := withScheme(given)
	a.protect(schemed)
	address, err := serverURL(given)
	if err != nil {
		return "", noAddress("--url", given, example, err)
	}
	if u, err := url.Parse(schemed); err == nil && bare && u.Port() == "" && !isLocal(u.Hostname()) {
		return "", usage("put https:// or http:// before it", "--url: %q does not say how the server is reached", given)
	}
	return address, nil
}

// isLocal says whether a host is this machine.
func isLocal(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// maxModelList bounds a list of models.
const maxModelList = 4 << 20

// openAIModels are the models that a server with OpenAI's API has, none where it does not say. The error is
// [llm.ErrUnreachable] where nobody answers at its address, and [llm.ErrRefused] where it wants a key or another one; whatever
// else it says of its models is no reason not to talk.
func (a *app) openAIModels(ctx context.Context, base, keyEnv string) ([]string, error) {
	patient, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	r, err := http.NewRequestWithContext(patient, http.MethodGet, base+"/models", nil)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	key := ""
	if keyEnv != "" {
		key = strings.TrimSpace(a.getenv(keyEnv))
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := a.modelHTTP().Do(r)
	if nobodyAt(err) && ctx.Err() == nil {
		return nil, &reworded{err: errors.Join(llm.ErrUnreachable, err), text: "no model: no server answers at " + base +
			"; start it, one of llama.cpp with: llama-server -m FILE.gguf" + portFlag(r.URL.Port()) + "; or name another with --url; turnstone demo needs none"}
	}
	if err != nil {
		return nil, ctx.Err()
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxModelList))
	err = errors.Join(err, answer.Body.Close())
	if answer.StatusCode == http.StatusUnauthorized {
		return nil, &reworded{err: llm.ErrRefused, text: "no model: " + letsNobodyIn(base, keyEnv, key)}
	}
	if err != nil || json.Unmarshal(body, &list) != nil {
		return nil, nil
	}
	var names []string
	for _, m := range list.Data {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return names, nil
}

func portFlag(port string) string {
	if port == "" {
		return ""
	}
	return " --port " + port
}
