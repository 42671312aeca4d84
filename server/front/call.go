package front

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
)

// api is what a client called.
type api int

const (
	ollamaChat api = iota
	ollamaGenerate
	openaiChat
)

func (a api) kind() Kind {
	if a == openaiChat {
		return OpenAI
	}
	return Ollama
}

// call is what a client sent. Most of its messages are not decoded: the front has seen them before.
type call struct {
	api    api
	body   []byte
	fields map[string]json.RawMessage // all but the messages; they point into the body

	model  string
	stream bool
	tools  []prompt.Definition
	// system are the messages of the system that stand first, or the system of a prompt.
	system []string

	// first and end are the offsets in the body of the first message that is not the system's, and behind the last one.
	first, end int
	opening    opening
	// user is whose conversation it is, as far as the API says so, session what its client calls it, and origin where its chain
	// begins.
	user, session string
	origin        chain.Hash
	// past are calls whose messages this one repeats, the longest first.
	past []past
	// said is where the last message of the user's stands of those that were decoded last, and asked the one that the model is to answer;
	// see [call.repeated] and [call.question].
	said, asked span
	// prompt is the one message of a call without a history, and goesOn the reply that it says it goes on from. Later says that
	// there was something before, whether or not it is a reply of ours.
	prompt *message
	goesOn *chain.Hash
	later  bool
}

// maxPast is how many earlier calls are tried before all messages are decoded.
const maxPast = 4

// decodeCall reads a body as far as it is not known.
func (f *Front) decodeCall(a api, tenant, session string, body []byte) (*call, error) {
	c := &call{api: a, session: session, body: body, fields: map[string]json.RawMessage{}, stream: a.kind() == Ollama}
	c.opening.tenant = tenant
	err := members(body, func(name string, at int) (int, error) {
		if name == "messages" && a != ollamaGenerate {
			return c.messages(f.known, at)
		}
		end, err := value(body, at)
		if err != nil {
			return 0, err
		}
		c.fields[name] = body[at:end]
		return end, nil
	})
	if err != nil {
		return nil, err
	}
	if err := c.settle(); err != nil {
		return nil, err
	}
	return c, nil
}

// settle reads the fields that matter here.
func (c *call) settle() error {
	if err := c.read("model", &c.model); err != nil {
		return err
	}
	if err := c.read("stream", &c.stream); err != nil {
		return err
	}
	if c.model == "" {
		return errNoModel
	}
	if err := c.whose(); err != nil {
		return err
	}
	if err := c.options(); err != nil {
		return err
	}
	if c.api == ollamaGenerate {
		if err := c.generate(); err != nil {
			return err
		}
	}
	return c.definitions()
}

// options holds those fields against their types that reach the upstream server in other words, or with more in them: it
// cannot say what is wrong with them any more.
func (c *call) options() error {
	if c.api.kind() == Ollama {
		var numbers struct {
			Context float64 `json:"num_ctx"`
			Predict float64 `json:"num_predict"`
		}
		return c.read("options", &numbers)
	}
	var format struct {
		Type   string   `json:"type"`
		Schema struct{} `json:"json_schema"`
	}
	var effort string
	var usage struct {
		Usage bool `json:"include_usage"`
	}
	return cmp.Or(c.read("response_format", &format), c.read("reasoning_effort", &effort), c.read("stream_options", &usage))
}

// whose reads who speaks. Conversations that have a name, or a user, are kept apart from those of the same words that have
// none or another: who says what somebody else said does not go on in that one's session.
func (c *call) whose() error {
	if c.api == openaiChat {
		if err := c.read("user", &c.user); err != nil {
			return err
		}
		c.user = plain(c.user)
	}
	switch {
	case c.session != "":
		c.origin = ofSession(chain.Hash{}, c.session)
	case c.user != "":
		c.origin = chain.Apart(chain.Hash{}, "user", c.user)
	}
	c.past = slices.DeleteFunc(c.past, func(p past) bool { return p.origin != c.origin })
	return nil
}

// ofSession is where the chain of a session begins, or goes on, that is called by its name.
func ofSession(h chain.Hash, name string) chain.Hash { return chain.Apart(h, "session", name) }

// single is an error where a client wants several answers at once: a conversation goes on with one.
func (c *call) single() error {
	n := 1
	if c.api != openaiChat {
		return nil
	}
	if err := c.read("n", &n); err != nil {
		return err
	}
	if n > 1 {
		return &misfit{"n", invalidValue, fmt.Sprintf("%d answers at once cannot be had; send 1, or leave it out.", n)}
	}
	return nil
}

// carried is an error where a client wants what it would not get. Verbatim says that the answer passes as it comes.
func (c *call) carried(verbatim bool) error {
	var functions []json.RawMessage
	if err := c.read("functions", &functions); err != nil || len(functions) > 0 {
		return cmp.Or(err, error(&misfit{"functions", invalidValue, "they are not supported. Send 'tools'."}))
	}
	logprobs := false
	if verbatim {
		return nil
	}
	if err := c.read("logprobs", &logprobs); err != nil || logprobs {
		return cmp.Or(err, error(&misfit{"logprobs", invalidValue, "they cannot be had here, where the model server speaks another API. Send false, or leave it out."}))
	}
	return nil
}

// sized is an error where a client asks for a window that no prompt is compiled for, or that the model does not have, in the words
// of its API. It is looked at before a session is made or forked for the call, which would stay.
func (c *call) sized(engine *turnstone.Engine) error {
	n := c.context()
	if n == 0 {
		return nil
	}
	if n < budget.MinContext || n > budget.MaxContext {
		return &misfit{"options.num_ctx", invalidValue,
			fmt.Sprintf("%d is too small or too large; send %d to %d, or leave it out.", n, budget.MinContext, budget.MaxContext)}
	}
	if profile, known := engine.Profile(c.model); known && n > profile.Context {
		return &misfit{"options.num_ctx", invalidValue,
			fmt.Sprintf("%d is more than the %d tokens of %s; send at most that, or leave it out.", n, profile.Context, c.model)}
	}
	return nil
}

// read decodes a field that may be missing or null.
func (c *call) read(name string, into any) error {
	raw, ok := c.fields[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return typed(name, raw, err)
	}
	return nil
}

// definitions reads the tools, of which the prompt counts the tokens. They are sent on as they came.
func (c *call) definitions() error {
	var tools []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if err := few("tools", c.fields["tools"]); err != nil {
		return err
	}
	if err := c.read("tools", &tools); err != nil {
		return err
	}
	for i, t := range tools {
		schema, err := toolargs.AppendSchema(nil, string(t.Function.Parameters))
		if err != nil {
			return &misfit{fmt.Sprintf("tools[%d].function.parameters", i), invalidValue, err.Error()}
		}
		c.tools = append(c.tools, prompt.Definition{Name: plain(t.Function.Name), Description: plain(t.Function.Description), Schema: string(schema)})
	}
	return nil
}

// messages walks the list of messages: over those of the system that stand first, then over what is known, to the end.
func (c *call) messages(k *known, at int) (int, error) {
	if at >= len(c.body) || c.body[at] != '[' {
		end, err := value(c.body, at)
		if err == nil && string(c.body[at:end]) != "null" {
			err = mistyped("messages", "an array of objects", c.body[at:end])
		}
		return end, err
	}
	n := 0
	return items(c.body, at+1, ']', func(i int) (int, error) {
		if n++; c.first > 0 {
			return c.skip(i)
		}
		end, err := value(c.body, i)
		if err != nil {
			return 0, err
		}
		m, err := decodeMessage(c.body[i:end])
		if err != nil {
			return 0, within(n-1, err)
		}
		if m.role == llm.System {
			c.system = append(c.system, m.text())
			return end, nil
		}
		c.first, c.end = i, end
		c.opening.first = k.sum(c.body[i:end])
		if c.past = k.find(c.opening, c.body[i:], maxPast); len(c.past) > 0 {
			c.end = i + c.past[0].size
		}
		return c.end, nil
	})
}

func (c *call) skip(i int) (int, error) {
	end, err := value(c.body, i)
	if err == nil {
		c.end = end
	}
	return end, err
}

// repeated are the bytes of all messages but the system's first ones.
func (c *call) repeated() []byte { return c.body[c.first:c.end] }

// decode reads the messages from an offset on, which is 0 or behind one of them. Those of the system come apart. A result is refused
// that no call before it waits for: whatever became of it, it would be said by somebody else. Of results that come first behind an
// offset nobody knows that here.
func (c *call) decode(from int) (messages []message, system []string, err error) {
	if c.prompt != nil {
		return []message{*c.prompt}, nil, nil
	}
	data := c.repeated()
	var o ordering
	called := from == 0 // that the calls are known which results answer
	if i := space(data, from); from > 0 && i < len(data) && data[i] == ',' {
		from = i + 1
	}
	for i := space(data, from); i < len(data); {
		end, err := value(data, i)
		if err != nil {
			return nil, nil, err
		}
		m, err := decodeMessage(data[i:end])
		if err != nil {
			return nil, nil, within(len(c.system)+count(data[:i]), err)
		}
		switch called = called || m.role != llm.System && m.role != llm.ToolResult; {
		case m.role == llm.System:
			system = append(system, m.text())
		case !o.next(&m) && called:
			return nil, nil, within(len(c.system)+count(data[:i]), errUncalled)
		default:
			messages = append(messages, m)
		}
		if m.role == llm.User {
			c.said = span{i, end}
		}
		if i = space(data, end); i < len(data) {
			i = space(data, i+1) // the comma, which was looked at before
		}
	}
	return messages, system, nil
}

// count is how many messages data has, which ends with the comma behind one of them.
func count(data []byte) (n int) {
	for i := space(data, 0); i < len(data); n++ {
		end, err := value(data, i)
		if err != nil {
			return n
		}
		i = space(data, min(space(data, end)+1, len(data)))
	}
	return n
}

// settings are what the prompt of the call begins with.
func (c *call) settings(system []string) prompt.Settings {
	var texts []string
	for _, text := range append(c.system[:len(c.system):len(c.system)], system...) {
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return prompt.Settings{System: strings.Join(texts, "\n\n"), Tools: c.tools}
}

// context is the size of the window that a client of Ollama asks for, 0 where it does not.
func (c *call) context() int {
	var options struct {
		Context int `json:"num_ctx"`
	}
	if c.api.kind() != Ollama || c.read("options", &options) != nil {
		return 0
	}
	return max(options.Context, 0)
}
