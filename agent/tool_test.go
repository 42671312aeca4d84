package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

type place struct {
	City string  `json:"city" doc:"its name"`
	Lat  float64 `json:"lat,omitempty"`
}

type common struct {
	Limit uint8 `json:"limit,omitzero" doc:"at most"`
}

type everything struct {
	common
	Text    string            `json:"text"`
	Flag    bool              `json:"flag"`
	Count   int64             `json:"count"`
	Where   place             `json:"where" doc:"the place"`
	Maybe   *place            `json:"maybe"`
	List    []string          `json:"list"`
	Pair    [2]int            `json:"pair,omitempty"`
	Tags    map[string]place  `json:"tags,omitempty"`
	When    time.Time         `json:"when,omitzero"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	Any     any               `json:"any,omitempty"`
	Bytes   []byte            `json:"bytes,omitempty"`
	Address netip.Addr        `json:"address,omitzero"`
	Plain   map[string]string `json:",omitempty"`
	Number  json.Number       `json:"number,omitempty"`
	Skipped func()            `json:"-"`
	Opaque  bytes.Buffer      `json:"opaque,omitzero"`
}

const everythingSchema = `{"type":"object","properties":{` +
	`"limit":{"type":"integer","minimum":0,"description":"at most"},` +
	`"text":{"type":"string"},"flag":{"type":"boolean"},"count":{"type":"integer"},` +
	`"where":{"type":"object","description":"the place","properties":{"city":{"type":"string","description":"its name"},"lat":{"type":"number"}},"required":["city"],"additionalProperties":false},` +
	`"maybe":{"type":"object","properties":{"city":{"type":"string","description":"its name"},"lat":{"type":"number"}},"required":["city"],"additionalProperties":false},` +
	`"list":{"type":"array","items":{"type":"string"}},"pair":{"type":"array","minItems":2,"maxItems":2,"items":{"type":"integer"}},` +
	`"tags":{"type":"object","additionalProperties":{"type":"object","properties":{"city":{"type":"string","description":"its name"},"lat":{"type":"number"}},"required":["city"],"additionalProperties":false}},` +
	`"when":{"type":"string","format":"date-time"},"raw":{},"any":{},"bytes":{"type":"string","contentEncoding":"base64"},"address":{"type":"string"},` +
	`"Plain":{"type":"object","additionalProperties":{"type":"string"}},"number":{"type":"number"},"opaque":{"type":"object","properties":{},"additionalProperties":false}},` +
	`"required":["text","flag","count","where","list"],"additionalProperties":false}`

func TestSchema(t *testing.T) {
	made, err := agent.NewTool("all", "all of it", func(context.Context, everything) (string, error) { return "", nil })
	if err != nil {
		t.Fatal(err)
	}
	if want := (llm.Tool{Name: "all", Description: "all of it", Schema: everythingSchema}); made.Definition() != want {
		t.Error(made.Definition().Schema)
	}
	if !json.Valid([]byte(everythingSchema)) {
		t.Error("not JSON")
	}
	none, err := agent.NewTool("none", "", func(context.Context, struct{}) (string, error) { return "", nil })
	if want := `{"type":"object","properties":{},"additionalProperties":false}`; err != nil || none.Definition().Schema != want {
		t.Error(none.Definition().Schema, err)
	}
}

func TestAFieldWhoseNameIsADash(t *testing.T) {
	type dash struct {
		//lint:ignore SA5008 It is what the test is about.
		D *string `json:"-,"`
	}
	made, err := agent.NewTool("dash", "", func(_ context.Context, d dash) (dash, error) { return d, nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := answerTo(t, made, `{"-":"x"}`); got != `ok {"-":"x"}` {
		t.Error(got)
	}
}

// Label and Extra are exported, since encoding/json reads nothing else of what is embedded under a name of its own.
type (
	Label string
	Extra struct {
		Small int32  `json:"small"`
		Short int16  `json:"short"`
		Large uint32 `json:"large"`
	}
)

func TestEmbeddedFieldsThatHaveANameOfTheirOwn(t *testing.T) {
	type both struct {
		Label
		Extra `json:"extra"`
	}
	made, err := agent.NewTool("both", "", func(_ context.Context, b both) (both, error) { return b, nil })
	if err != nil {
		t.Fatal(err)
	}
	const arguments = `{"Label":"x","extra":{"small":-1,"short":-2,"large":3}}`
	if got := answerTo(t, made, arguments); got != "ok "+arguments {
		t.Error(got)
	}
}

type loop struct {
	Next *loop `json:"next"`
}

type embedded struct{ *embedded }

type noisy struct{ Bell chan int }

type (
	tree  map[string]tree
	nest  []nest
	point *point
)

func TestWhatIsNoTool(t *testing.T) {
	check := func(err error, field string) {
		t.Helper()
		if !isField(err, field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	check(fails[string]("x"), "arguments")
	check(fails[struct{ F func() }]("x"), "arguments.F")
	check(fails[struct{ F []chan int }]("x"), "arguments.F[]")
	check(fails[struct{ F map[int]string }]("x"), "arguments.F")
	check(fails[struct{ F map[string]complex64 }]("x"), "arguments.F[]")
	check(fails[struct{ F context.Context }]("x"), "arguments.F")
	check(fails[loop]("x"), "arguments.next")
	check(fails[embedded]("x"), "arguments.embedded")
	check(fails[struct{ F tree }]("x"), "arguments.F[]")
	check(fails[struct{ F nest }]("x"), "arguments.F[]")
	check(fails[struct{ F point }]("x"), "arguments.F")
	check(fails[struct {
		common
		Limit string `json:"limit"`
	}]("x"), "arguments.limit")
	check(fails[struct {
		A int `json:"a,string"`
	}]("x"), "arguments.a")
	check(fails[struct {
		common
		Inner struct{ C chan int }
	}]("x"), "arguments.Inner.C")
	check(fails[struct{ noisy }]("x"), "arguments.Bell")
	check(fails[struct {
		time.Time // which reads all of it
		City      string
	}]("x"), "arguments")
	check(fails[struct{ *common }]("x"), "arguments.common")
	check(fails[struct {
		//lint:ignore SA5008 It is what the test is about.
		A int `json:"user's"`
	}]("x"), "arguments.A")
	check(fails[struct{}](""), "tools[0].name")
	check(fails[struct{}]("not a name"), "tools[0].name")
	_, err := agent.NewRawTool(llm.Tool{Name: "x", Schema: "[]"}, func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	check(err, "tool.schema")
}

func fails[A any](name string) error {
	_, err := agent.NewTool(name, "", func(context.Context, A) (string, error) { return "", nil })
	return err
}

// answerTo is what a model gets for a call of the tool.
func answerTo(t *testing.T, made agent.Tool, arguments string) string {
	t.Helper()
	model := llmtest.Replies(calls(call("a", made.Definition().Name, arguments)), says("done"))
	w := agent.NewWorker("1", "one", model)
	log := &ledger{}
	if _, err := w.Ask(t.Context(), newLoop(t, agent.Config{Tools: []agent.Tool{made}}), log, "go"); err != nil {
		t.Fatal(err)
	}
	log.check(t)
	_, after, _ := strings.Cut(log.transcript(), "result a "+made.Definition().Name+" ")
	answer, _, _ := strings.Cut(after, "\n")
	return answer
}

func TestArguments(t *testing.T) {
	echo, err := agent.NewTool("echo", "", func(_ context.Context, a everything) (everything, error) { return a, nil })
	if err != nil {
		t.Fatal(err)
	}
	const least = `"text":"<t>","flag":true,"count":3,"where":{"city":"Oslo"},"list":[]`
	for _, test := range []struct{ arguments, want string }{
		{"{" + least + "}", `ok {"text":"<t>","flag":true,"count":3,"where":{"city":"Oslo"},"maybe":null,"list":[],"pair":[0,0]}`},
		{
			"{" + least + `,"limit":7,"maybe":{"city":"Rome","lat":1.5},"pair":[1,2],"tags":{"a":{"city":"x"}},"when":"2026-01-02T03:04:05Z","raw":{"a":1},"any":[1],"bytes":"aGk=","address":"::1","Plain":{"k":"v"}}`,
			`ok {"limit":7,"text":"<t>","flag":true,"count":3,"where":{"city":"Oslo"},"maybe":{"city":"Rome","lat":1.5},"list":[],"pair":[1,2],"tags":{"a":{"city":"x"}},"when":"2026-01-02T03:04:05Z","raw":{"a":1},"any":[1],"bytes":"aGk=","address":"::1","Plain":{"k":"v"}}`,
		},
		{strings.Replace("{"+least+"}", "[]", `["a","b"]`, 1), `ok {"text":"<t>","flag":true,"count":3,"where":{"city":"Oslo"},"maybe":null,"list":["a","b"],"pair":[0,0]}`},
		{"{" + least + `,"maybe":null,"when":null}`, `ok {"text":"<t>","flag":true,"count":3,"where":{"city":"Oslo"},"maybe":null,"list":[],"pair":[0,0]}`},
		{"", `error "arguments of echo: text: is missing; give it"`},
		{"{" + least + `,"odd":1}`, `error "arguments of echo: odd: is not a field; legal here: limit, text, flag, count, where, maybe, list, pair, tags, when, raw, any, bytes, address, Plain, number, opaque"`},
		{"{" + least + `,"Limit":1}`, `error "arguments of echo: Limit: is not a field; legal here: limit, text, flag, count, where, maybe, list, pair, tags, when, raw, any, bytes, address, Plain, number, opaque"`},
		{strings.Replace("{"+least+"}", "3", `"3"`, 1), `error "arguments of echo: count: is a string; give a number"`},
		{strings.Replace("{"+least+"}", "true", `"yes"`, 1), `error "arguments of echo: flag: is a string; give true or false"`},
		{strings.Replace("{"+least+"}", "3", "3.5", 1), `error "arguments of echo: count: 3.5 does not fit; give a whole number in its range"`},
		{strings.Replace("{"+least+"}", `"<t>"`, "null", 1), `error "arguments of echo: text: is null; give a string"`},
		{strings.Replace("{"+least+"}", `"city":"Oslo"`, `"town":1`, 1), `error "arguments of echo: where.town: is not a field; legal here: city, lat"`},
		{strings.Replace("{"+least+"}", `"city":"Oslo"`, "", 1), `error "arguments of echo: where.city: is missing; give it"`},
		{strings.Replace("{"+least+"}", `[]`, `["a",1]`, 1), `error "arguments of echo: list[1]: is a number; give a string"`},
		{"{" + least + `,"tags":{"a":1}}`, `error "arguments of echo: tags.a: is a number; give an object"`},
		{"{" + least + `,"pair":[1]}`, `error "arguments of echo: pair: has 1 elements; give 2"`},
		{"{" + least + `,"pair":[1,2,3]}`, `error "arguments of echo: pair: has 3 elements; give 2"`},
		{"{" + least + `,"number":1e9}`, `ok {"text":"<t>","flag":true,"count":3,"where":{"city":"Oslo"},"maybe":null,"list":[],"pair":[0,0],"number":1e9}`},
		{"{" + least + `,"limit":300}`, `error "arguments of echo: limit: 300 does not fit; give a whole number in its range"`},
		{"{" + least + `,"limit":-1}`, `error "arguments of echo: limit: -1 does not fit; give a whole number in its range"`},
		{strings.Replace("{"+least+"}", `"Oslo"`, `"Oslo","lat":1e999`, 1), `error "arguments of echo: where.lat: number 1e999 is no float64; give a value that fits"`},
		{"[1]", `error "the arguments of echo are not a JSON object; call it again with one"`},
		{`{"text":"a","text":"b"}`, `error "arguments of echo: offset 12: member \"text\" appears twice"`},
		{"{" + least + `,"when":"today"}`, `error "arguments of echo: parsing time`},
	} {
		if got := answerTo(t, echo, test.arguments); got != test.want && !(strings.HasSuffix(test.want, "time") && strings.HasPrefix(got, test.want)) {
			t.Errorf("%s:\n%s\n%s", test.arguments, got, test.want)
		}
	}
	none, err := agent.NewTool("none", "", func(context.Context, struct{}) (int, error) { return 1, nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := answerTo(t, none, `{"a":1}`); got != `error "arguments of none: a: is not a field; legal here: none"` {
		t.Error(got)
	}
}

// brittle is a type that reads itself, and not all that a model writes.
type brittle string

func (b *brittle) UnmarshalJSON(text []byte) error {
	*b = brittle(text[1 : len(text)-1])
	return nil
}

func TestArgumentsThatPanic(t *testing.T) {
	made, err := agent.NewTool("brittle", "", func(context.Context, struct{ B brittle }) (int, error) { return 1, nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := answerTo(t, made, `{"B":1}`); !strings.HasPrefix(got, `error "arguments of brittle: panic: runtime error: slice bounds`) {
		t.Error(got)
	}
}

// A raw tool gets an object, or is not called.
func TestArgumentsThatAreTooDeep(t *testing.T) {
	raw, err := agent.NewRawTool(llm.Tool{Name: "raw"}, func(_ context.Context, arguments json.RawMessage) (json.RawMessage, error) {
		return arguments[:0], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const levels = 2000
	got := answerTo(t, raw, `{"a":`+strings.Repeat("[", levels)+strings.Repeat("]", levels)+"}")
	if got != `error "the arguments of raw are nested too deep; call it again with fewer levels"` {
		t.Error(got)
	}
}

func TestResults(t *testing.T) {
	odd, err := agent.NewTool("odd", "", func(context.Context, struct{}) (float64, error) { return math.NaN(), nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := answerTo(t, odd, ""); got != `error "result as JSON: json: unsupported value: NaN"` {
		t.Error(got)
	}
	for returned, want := range map[string]string{
		" {\"a\": 1}\n": `ok {"a": 1}`,
		"":              "ok ",
		"{":             `error "the result is not JSON: `,
	} {
		raw, err := agent.NewRawTool(llm.Tool{Name: "raw"}, func(_ context.Context, arguments json.RawMessage) (json.RawMessage, error) {
			if string(arguments) != `{"x":  1}` {
				return nil, errors.New(string(arguments))
			}
			return json.RawMessage(returned), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if raw.Definition().Schema != `{"type":"object","properties":{}}` {
			t.Error(raw.Definition())
		}
		if got := answerTo(t, raw, ` {"x":  1} `); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", returned, got)
		}
	}
	large := tool(t, "large", func(context.Context, nameArgs) (string, error) { return "12345678", nil })
	for most, want := range map[int]string{10: `ok "12345678"`, 9: `error "the result has 10 bytes, more than the 9 that fit; ask for less"`} {
		survive(t, survival{
			model: llmtest.Replies(calls(call("a", "large", `{"name":"x"}`)), says("done")), config: agent.Config{Tools: []agent.Tool{large}, MaxResult: most},
			outcome: agent.Normal, state: commit.Complete, entries: "Prompt ToolUse ToolResults Response",
			log: "agent \"\" a:large({\"name\":\"x\"})\nresult a large " + want + "\nagent \"done\"\n",
		})
	}
}

func TestConfig(t *testing.T) {
	greeting := tool(t, "greet", greet)
	late := greeting
	late.Timeout = -1
	for field, c := range map[string]agent.Config{
		"MaxRounds":        {MaxRounds: -1},
		"MaxTokens":        {MaxTokens: -1},
		"MaxAnswer":        {MaxAnswer: -1},
		"MaxCalls":         {MaxCalls: -1},
		"MaxResult":        {MaxResult: -1},
		"Parallel":         {Parallel: -1},
		"First":            {First: -1},
		"Idle":             {Idle: -1},
		"ToolTimeout":      {ToolTimeout: -1},
		"Grace":            {Grace: -1},
		"Tools[1]":         {Tools: []agent.Tool{greeting, {}}},
		"Tools[2]":         {Tools: []agent.Tool{greeting, tool(t, "other", greet), greeting}},
		"Tools[0].Timeout": {Tools: []agent.Tool{late}},
	} {
		if _, err := agent.NewLoop(c); !isField(err, field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
