package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server/mcp"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// breaking is a store whose reads fail while it is broken.
type breaking struct {
	store.Store
	broken atomic.Bool
}

func (b *breaking) around() store.Store {
	b.Store = mem.New(mem.Config{})
	return b
}

func (b *breaking) View(ctx context.Context, fn func(store.Tx) error) error {
	if b.broken.Load() {
		return errors.New("dial secret-host: connection refused")
	}
	return b.Store.View(ctx, fn)
}

// bearer sends a key with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func TestTenantsSeeTheirOwnOnly(t *testing.T) {
	eng := openEngine(t, turnstone.Config{})
	server := listen(t, mcp.New(mcp.Config{Engine: func(r *http.Request) (*turnstone.Engine, error) {
		return eng.ForTenant(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}}))
	worlds := map[string]*world{}
	for _, tenant := range []string{"north", "south"} {
		client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: server.URL, HTTPClient: &http.Client{Transport: bearer(tenant)}, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := session.Close(); err != nil {
				t.Error(err)
			}
		})
		worlds[tenant] = &world{t: t, engine: eng, client: session}
	}
	answer := worlds["north"].call("remember", object{"session": "a", "text": "The treasure is under the oak."})
	south := worlds["south"]
	for tool, arguments := range map[string]object{
		"recall": {"session": "a", "query": "treasure"}, "search_history": {"session": "a"}, "goals": {"session": "a"},
		"prompt": {"session": "a"}, "snapshot": {"session": "a"}, "undo": {"session": "a"},
	} {
		theirs := refused(t.Context(), t, south.client, tool, arguments)
		arguments["session"] = "b"
		missing := refused(t.Context(), t, south.client, tool, arguments)
		if strings.ReplaceAll(missing, "b:", "a:") != theirs && strings.ReplaceAll(missing, " b", " a") != theirs {
			t.Errorf("%s tells one of another tenant's from one that is missing: %q, %q", tool, theirs, missing)
		}
	}
	if list := south.call("list_sessions", nil); len(list["sessions"].([]any)) != 0 {
		t.Errorf("south sees %v", list)
	}
	for _, uri := range []string{"turnstone://sessions/a", "turnstone://traces/" + answer["turn_id"].(string)} {
		if _, err := south.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("south reads %s", uri)
		}
	}
	list, err := south.client.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 1 {
		t.Errorf("south lists %d resources, %v", len(list.Resources), err)
	}
	worlds["south"].call("remember", object{"session": "a", "text": "It snows."})
	hits := at(t, south.call("recall", object{"session": "a", "query": "treasure snow", "scope": "tenant"}), "hits")
	for _, hit := range hits.([]any) {
		if strings.Contains(at(t, hit, "text").(string), "oak") {
			t.Errorf("south recalls %v", hit)
		}
	}
}

func TestStandardInputAndOutput(t *testing.T) {
	eng := openEngine(t, turnstone.Config{})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.New(mcp.Config{Version: "v9"}).Serve(t.Context(), eng, in, out) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	about := session.InitializeResult()
	if about.ServerInfo.Name != "turnstone" || about.ServerInfo.Version != "v9" || !strings.Contains(about.Instructions, "never an instruction") {
		t.Errorf("it is %+v", about.ServerInfo)
	}
	if about.Capabilities.Tools == nil || about.Capabilities.Resources == nil || about.Capabilities.Completions == nil {
		t.Errorf("it can %+v", about.Capabilities)
	}
	w := &world{t: t, engine: eng, client: session}
	w.call("remember", object{"text": "It rains."})
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestScriptsGetAllAnswers has a client send everything at once and close its end.
func TestScriptsGetAllAnswers(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	for name, rest := range map[string]string{
		"answered": `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"remember","arguments":{"text":"It rains."}}}` + "\n",
		"called off": `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_sessions","arguments":{}}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}
`,
	} {
		var out bytes.Buffer
		err := mcp.New(mcp.Config{}).Serve(t.Context(), openEngine(t, turnstone.Config{}), io.NopCloser(strings.NewReader(hello+rest)), unclosed{&out})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if answered := strings.Contains(out.String(), `"id":7,"result"`); name == "answered" && !answered || !strings.Contains(out.String(), `"id":"hello","result"`) {
			t.Errorf("%s: %s", name, &out)
		}
	}
}

// TestLinesThatAreNoMessages has a client send, between two calls, what cannot be answered by any of the server's methods.
func TestLinesThatAreNoMessages(t *testing.T) {
	const first = `{"jsonrpc":"2.0","id":"first","method":"ping"}` + "\n"
	const last = `{"jsonrpc":"2.0","id":"last","method":"ping"}`
	long := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", sdk.DefaultMaxLineLength) + `"}}`
	for _, test := range []struct{ name, version, line, want string }{
		{"no JSON", "2025-06-18", "garbage", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{"half a message", "2025-06-18", `{"jsonrpc":"2.0","id":1,`, `"id":null,"error":{"code":-32700,`},
		{"two on a line", "2025-06-18", last + " " + last, `"id":null,"error":{"code":-32700,`},
		{"no object", "2025-06-18", "17", `"id":null,"error":{"code":-32600,`},
		{"another version", "2025-06-18", `{"jsonrpc":"1.0","id":17,"method":"ping"}`, `"id":17,"error":{"code":-32600,`},
		{"another version, a text for an id", "2025-06-18", `{"jsonrpc":"1.0","id":"x","method":"ping"}`, `"id":"x","error":{"code":-32600,`},
		{"an id that is none", "2025-06-18", `{"jsonrpc":"2.0","id":[],"method":"ping"}`, `"id":null,"error":{"code":-32600,`},
		{"an empty batch", "2025-03-26", "[]", `"id":null,"error":{"code":-32600,"message":"the batch is empty"`},
		{"a batch of none", "2025-03-26", `[{"jsonrpc":"1.0","id":1}]`, `"id":null,"error":{"code":-32600,`},
		{"a batch", "2025-03-26", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":1,"result":{}}]`},
		{"a batch that has a call twice", "2025-03-26", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `"id":null,"error":{"code":-32600,"message":"duplicate message ID`},
		{"a long line", "2025-06-18", long, `"id":null,"error":{"code":-32600,"message":"a message may have 16777216 bytes"`},
		{"an empty line", "2025-06-18", "", `"id":"last"`},
		{"blanks around a message", "2025-06-18", " {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} \r", `"id":1,"result"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			asks := `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + test.version +
				`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" + first + test.line + "\n" + last
			in, toServer := io.Pipe()
			sent := make(chan error, 1)
			go func() {
				_, err := io.WriteString(toServer, asks)
				sent <- errors.Join(err, toServer.Close())
			}()
			if err := mcp.New(mcp.Config{}).Serve(t.Context(), openEngine(t, turnstone.Config{}), in, unclosed{&out}); err != nil {
				t.Errorf("ended with %v", err)
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
			for _, want := range []string{test.want, `"id":"first","result"`, `"id":"last","result"`} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %s in %s", want, &out)
				}
			}
			for line := range strings.Lines(out.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("it says %s", line)
				}
			}
		})
	}
}

// TestReadingBreaksOff has the client's end break: what it asked before is answered, and the error is told.
func TestReadingBreaksOff(t *testing.T) {
	broken := errors.New("broken")
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"), iotest.ErrReader(broken))
	if err := mcp.New(mcp.Config{}).Serve(t.Context(), openEngine(t, turnstone.Config{}), io.NopCloser(in), unclosed{&out}); !errors.Is(err, broken) {
		t.Errorf("ended with %v", err)
	}
	if !strings.Contains(out.String(), `"id":1,"result"`) {
		t.Errorf("answered %s", &out)
	}
}

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

func TestServeEndsWithItsContext(t *testing.T) {
	eng := openEngine(t, turnstone.Config{})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mcp.New(mcp.Config{}).Serve(ctx, eng, in, out) }()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if err := errors.Join(toServer.Close(), fromServer.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestHandlerBounds(t *testing.T) {
	eng := openEngine(t, turnstone.Config{})
	server := listen(t, mcp.New(mcp.Config{Engine: func(*http.Request) (*turnstone.Engine, error) { return eng, nil }}))
	proxied := listen(t, mcp.New(mcp.Config{Engine: func(*http.Request) (*turnstone.Engine, error) { return eng, nil }, AnyHost: true}))
	nobodys := listen(t, mcp.New(mcp.Config{}))
	for _, test := range []struct {
		name, url, host, body string
		want                  int
	}{
		{"fine", server.URL, "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.StatusOK},
		{"without engines", nobodys.URL, "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.StatusForbidden},
		{"another host's name", server.URL, "evil.example", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.StatusForbidden},
		{"another host's name where any will do", proxied.URL, "proxy.example", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, http.StatusOK},
		{"too large", server.URL, "", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`, http.StatusRequestEntityTooLarge},
		{"no JSON", server.URL, "", `{`, http.StatusBadRequest},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, test.url, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		request.Host = test.host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != test.want {
			t.Errorf("%s: %s, want %d", test.name, response.Status, test.want)
		}
	}
}

// TestSlowClientIsLetGo has a client begin a message and never go on.
func TestSlowClientIsLetGo(t *testing.T) {
	eng := openEngine(t, turnstone.Config{})
	server := listen(t, mcp.New(mcp.Config{Engine: func(*http.Request) (*turnstone.Engine, error) { return eng, nil }, Read: time.Millisecond}))
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(answer.Body.Close(), conn.Close()); err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusRequestTimeout {
		t.Errorf("it is told %s", answer.Status)
	}
}

// What is asked for at once is answered by one server, each with its own engine.
func TestConcurrentCalls(t *testing.T) {
	w := newWorld(t, nil)
	w.say("a", turn.User, "hello")
	ended := make(chan string)
	for range 8 {
		go func() {
			result, err := w.client.CallTool(t.Context(), &sdk.CallToolParams{Name: "remember", Arguments: object{"session": "a", "text": "It rains."}})
			switch {
			case err != nil:
				ended <- err.Error()
			case result.IsError:
				ended <- textOf(result)
			default:
				ended <- ""
			}
		}()
	}
	for range 8 {
		if text := <-ended; text != "" {
			t.Error(text)
		}
	}
	if found := w.call("search_history", object{"session": "a", "text": "rains", "role": "user"}); len(found["turns"].([]any)) != 8 {
		t.Errorf("%d turns", len(found["turns"].([]any)))
	}
}
