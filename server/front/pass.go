package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// pass hands a request that is no conversation on to the upstream server, and says it in the other API's words where the
// server speaks that one.
func (f *Front) pass(w http.ResponseWriter, r *http.Request, a api) {
	if _, err := f.config.Engine(r); err != nil {
		Refuse(w, r, http.StatusUnauthorized, err.Error())
		return
	}
	if outside(r.URL.Path) {
		f.refuse(w, a, errNowhere)
		return
	}
	body, release, err := f.read(w, r)
	defer release()
	if err != nil {
		f.refuse(w, a, err)
		return
	}
	if f.config.Upstream.Kind == OpenAI && a.kind() == Ollama {
		err = f.translate(w, r, body)
	} else {
		err = f.forward(w, r, body)
	}
	if err != nil {
		f.excuse(w, r, a, err)
	}
}

// bare hands on a call that is no conversation.
func (f *Front) bare(w http.ResponseWriter, r *http.Request, c *call) {
	var err error
	switch upstream := f.config.Upstream.Kind; {
	case upstream == OpenAI && c.api.kind() == Ollama && c.api != ollamaGenerate || upstream == OpenAI && c.api == ollamaGenerate && c.prompt.empty():
		// There is nothing to load: the server sees to it by itself.
		s := &ollamaSpeech{model: c.model, started: time.Now(), generate: c.api == ollamaGenerate}
		f.answer(w, jsonType, http.StatusOK, s.line(nil, "", "", nil, &ollamaEnd{DoneReason: "load"}))
	case upstream == OpenAI && c.api == ollamaGenerate:
		err = &badCall{errors.New("raw, suffix and template need an Ollama server upstream")}
	default:
		err = f.forward(w, r, c.body)
	}
	if err != nil {
		f.excuse(w, r, c.api, err)
	}
}

// hop are headers that are of one connection, and those that say what is said anew.
var hop = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Accept-Encoding", "Host", "Content-Length", "Origin", SessionHeader,
}

// onward is the request as the upstream server gets it, byte for byte. Its body is a copy: a transport may go on reading
// when the answer is there already, and by then the memory may be another call's.
func (f *Front) onward(ctx context.Context, r *http.Request, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, f.upstream.url(r.URL.Path, r.URL.RawQuery), bytes.NewReader(bytes.Clone(body)))
	if err != nil {
		return nil, unreachable(err)
	}
	for name, values := range r.Header {
		if !slices.Contains(hop, name) {
			request.Header[name] = values
		}
	}
	f.upstream.authorize(request.Header, r.Header)
	return request, nil
}

// forward passes a request and its answer on as they are.
func (f *Front) forward(w http.ResponseWriter, r *http.Request, body []byte) (err error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	silence := f.upstream.impatient(cancel)
	defer silence.Stop()
	request, err := f.onward(ctx, r, body)
	if err != nil {
		return err
	}
	response, err := f.upstream.do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	copyHeader(w.Header(), response)
	w.WriteHeader(response.StatusCode)
	to := newClientOf(w, f.config.Limits.silence(false))
	to.begun = true
	buffer := make([]byte, 32<<10)
	for to.err == nil {
		n, err := response.Body.Read(buffer)
		silence.Reset(f.config.Limits.silence(true))
		to.write(buffer[:n])
		to.flush()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler) // so that the client does not take it for the end
		}
	}
	return nil
}

func copyHeader(to http.Header, response *http.Response) {
	for name, values := range response.Header {
		// Which pages may read an answer is for who serves it to say: a model server lets in those that are on its machine, or all.
		if strings.HasPrefix(name, "Access-Control-") {
			continue
		}
		if name == "Content-Length" || !slices.Contains(hop, name) {
			to[name] = values
		}
	}
}

// translate answers what clients of Ollama ask of a server that speaks as OpenAI does.
func (f *Front) translate(w http.ResponseWriter, r *http.Request, body []byte) error {
	var answer any
	var err error
	switch r.URL.Path {
	case "/api/version":
		answer = map[string]string{"version": "0.6.0"} // the API that is spoken here
	case "/api/ps":
		answer = map[string][]string{"models": {}}
	case "/api/tags":
		answer, err = f.tags(r)
	case "/api/show":
		answer, err = f.show(r, body)
	default:
		answer, err = f.embed(r, body)
	}
	if err != nil {
		return err
	}
	f.answer(w, jsonType, http.StatusOK, encode(answer))
	return nil
}

type (
	tagged struct {
		Name       string  `json:"name"`
		Model      string  `json:"model"`
		ModifiedAt string  `json:"modified_at"`
		Size       int64   `json:"size"`
		Digest     string  `json:"digest"`
		Details    details `json:"details"`
	}
	details struct {
		ParentModel       string   `json:"parent_model"`
		Format            string   `json:"format"`
		Family            string   `json:"family"`
		Families          []string `json:"families"`
		ParameterSize     string   `json:"parameter_size"`
		QuantizationLevel string   `json:"quantization_level"`
	}
	model struct {
		ID      string `json:"id"`
		Created int64  `json:"created"`
	}
)

// get asks the upstream server and decodes its answer.
func (f *Front) get(r *http.Request, method, path string, body []byte, into any) (err error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer f.upstream.impatient(cancel).Stop()
	request, err := http.NewRequestWithContext(ctx, method, f.upstream.url(path, ""), bytes.NewReader(body))
	if err != nil {
		return unreachable(err)
	}
	request.Header.Set("Content-Type", "application/json")
	f.upstream.authorize(request.Header, r.Header)
	response, err := f.upstream.do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return refused(response)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	data, err := io.ReadAll(io.LimitReader(response.Body, int64(f.config.Limits.Line)))
	if err != nil {
		return interrupted(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return garbled(data, err)
	}
	return nil
}

func (f *Front) tags(r *http.Request) (any, error) {
	var list struct{ Data []model }
	if err := f.get(r, http.MethodGet, "/v1/models", nil, &list); err != nil {
		return nil, err
	}
	models := make([]tagged, len(list.Data))
	for i, m := range list.Data {
		at := time.Unix(m.Created, 0).UTC().Format(time.RFC3339)
		models[i] = tagged{Name: m.ID, Model: m.ID, ModifiedAt: at, Details: details{Families: []string{}}}
	}
	return map[string]any{"models": models}, nil
}

func (f *Front) show(r *http.Request, body []byte) (any, error) {
	var asked struct{ Model, Name string }
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, &badCall{typed("", body, err)}
	}
	if asked.Model == "" {
		asked.Model = asked.Name
	}
	if outside(asked.Model) {
		return nil, errNowhere
	}
	m, err := f.oneModel(r, asked.Model)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"details": details{Families: []string{}}, "model_info": map[string]any{}, "capabilities": []string{"completion", "tools"},
		"modified_at": time.Unix(m.Created, 0).UTC().Format(time.RFC3339),
	}, nil
}

// oneModel is what the upstream server says of a model. Some, such as llama.cpp, only list what they have: a client that
// was told of a model by /api/tags is not to hear that there is none.
func (f *Front) oneModel(r *http.Request, name string) (model, error) {
	var m model
	err := f.get(r, http.MethodGet, "/v1/models/"+strings.TrimPrefix(name, "/"), nil, &m)
	var said *refusal
	if !errors.As(err, &said) || said.status != http.StatusNotFound && said.status != http.StatusMethodNotAllowed {
		return m, err
	}
	var list struct{ Data []model }
	if f.get(r, http.MethodGet, "/v1/models", nil, &list) == nil {
		for _, m := range list.Data {
			if m.ID == name {
				return m, nil
			}
		}
	}
	return m, err
}

// embed says /api/embed, which takes several texts, and the older /api/embeddings, which takes one.
func (f *Front) embed(r *http.Request, body []byte) (any, error) {
	var asked struct {
		Model  string
		Input  json.RawMessage
		Prompt *string
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, &badCall{typed("", body, err)}
	}
	one := r.URL.Path == "/api/embeddings"
	if one && asked.Prompt != nil {
		asked.Input = encode(*asked.Prompt)
	}
	if len(asked.Input) == 0 {
		return nil, &badCall{errors.New("there is nothing to embed")}
	}
	var list struct {
		Data  []struct{ Embedding []float64 }
		Usage usage
	}
	if err := f.get(r, http.MethodPost, "/v1/embeddings", encode(map[string]any{"model": asked.Model, "input": asked.Input}), &list); err != nil {
		return nil, err
	}
	vectors := make([][]float64, len(list.Data))
	for i := range list.Data {
		vectors[i] = list.Data[i].Embedding
	}
	if !one {
		return map[string]any{"model": asked.Model, "embeddings": vectors, "prompt_eval_count": list.Usage.Prompt}, nil
	}
	if len(vectors) != 1 {
		return nil, garbled(body, errors.New("not one vector for one text"))
	}
	return map[string]any{"embedding": vectors[0]}, nil
}
