package arch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The table of the architecture's "Direction". A package imports what stands in a lower line,
// never its neighbours and never upwards.
var (
	layers = [][]string{
		{"cmd", "examples", "bench"},
		{"server", "web", "client"},
		{"."},
		{"agent"},
		{"commit", "replay", "bus"},
		{"store"},
		{"prompt", "recall", "snapshot"},
		{"memory"},
		{"compress"},
		{"turn", "dialogue", "cortex", "scratch", "trace", "event", "budget", "llm", "access", "chain"},
	}

	// Below a socket stand its adapters, its suite and parts of the socket itself.
	sockets  = []string{"store", "bus", "llm"}
	adapters = []string{
		"store/mem", "store/sqlite", "store/postgres",
		"bus/inproc", "bus/natsbus",
		"llm/ollama", "llm/openai",
	}
	socketParts = []string{"store/doctor"}

	// The one adapter that others may import: the default.
	defaultAdapter = "bus/inproc"

	// What runs in programs of others, far from the engine.
	wireClient = "client"

	// Support for tests besides the folders whose names end in "test".
	testSupport = []string{"internal/faulty", "internal/scenario", "internal/transcripts", "internal/turngen"}

	// From the door downwards nothing knows a database, a protocol or a vendor.
	domainTop  = "."
	technology = []string{
		"database/sql", "net/http",
		"modernc.org/sqlite", "github.com/jackc/pgx", "github.com/nats-io",
	}
)

const (
	topLayer = 0
	unplaced = -1
)

var vocabularyLayer = len(layers) - 1

// layerOf is the line of layers that a folder's first element stands in. A folder below a
// socket has a place only when the table says what it is.
func layerOf(dir string) int {
	first, below, nested := strings.Cut(dir, "/")
	if nested && slices.Contains(sockets, first) {
		next, _, _ := strings.Cut(below, "/")
		if name := first + "/" + next; !slices.Contains(adapters, name) && !slices.Contains(socketParts, name) {
			return unplaced
		}
	}
	return slices.IndexFunc(layers, func(names []string) bool { return slices.Contains(names, first) })
}

// adapterOf returns the adapter a folder belongs to and its socket.
func adapterOf(dir string) (adapter, socket string) {
	for _, adapter := range adapters {
		if within(dir, adapter) {
			socket, _, _ := strings.Cut(adapter, "/")
			return adapter, socket
		}
	}
	return "", ""
}

func isTestSupport(dir string) bool {
	for _, support := range testSupport {
		if within(dir, support) {
			return true
		}
	}
	return slices.ContainsFunc(strings.Split(dir, "/"), func(element string) bool {
		return strings.HasSuffix(element, "test")
	})
}

func isInternal(dir string) bool { return within(dir, "internal") }

// within says whether a folder or import path is root or lies below it.
func within(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }

// direction says why the code in folder from may not import target; empty when it may.
func direction(from, target string) string {
	if isTestSupport(from) {
		return ""
	}
	to, ours := ".", target == modulePath
	if !ours {
		to, ours = strings.CutPrefix(target, modulePath+"/")
	}
	if !ours {
		return foreign(from, target)
	}
	adapter, socket := adapterOf(from)
	toAdapter, _ := adapterOf(to)
	layer, toLayer := layerOf(from), layerOf(to)
	switch {
	case isTestSupport(to):
		if within(from, "bench") {
			return ""
		}
		return "test support is for tests"
	case isInternal(to):
		return ""
	case toLayer == unplaced:
		return to + " has no place in the table of layers"
	case isInternal(from):
		return "internal packages stand below everything"
	case layer == unplaced:
		return from + " has no place in the table of layers"
	case within(from, wireClient) && !within(to, wireClient):
		return "the client knows what goes over the wire, and nothing of the engine"
	case adapter != "":
		below := (toLayer > layer || toLayer == vocabularyLayer) && toAdapter == "" && !slices.Contains(socketParts, to)
		if toAdapter == adapter || to == socket || below {
			return ""
		}
		return fmt.Sprintf("an adapter imports its socket %s, what stands below it and the vocabulary", socket)
	case toAdapter != "" && toAdapter != defaultAdapter:
		if layer == topLayer {
			return ""
		}
		return "only commands, examples, benchmarks and tests import adapters"
	case toLayer > layer || sameTop(from, to):
		return ""
	case toLayer == layer:
		return fmt.Sprintf("neighbours do not import each other: %s", strings.Join(layers[layer], ", "))
	}
	return "upwards"
}

func sameTop(from, to string) bool {
	a, _, _ := strings.Cut(from, "/")
	b, _, _ := strings.Cut(to, "/")
	return a == b
}

// foreign judges imports from outside the module.
func foreign(from, target string) string {
	adapter, _ := adapterOf(from)
	layer := layerOf(from)
	if isInternal(from) || adapter != "" || layer == unplaced {
		return ""
	}
	if layer >= layerOf(domainTop) && slices.ContainsFunc(technology, func(t string) bool { return within(target, t) }) {
		return "the domain knows no database, no HTTP and no vendor"
	}
	first, _, _ := strings.Cut(target, "/")
	if layer == vocabularyLayer && strings.Contains(first, ".") {
		return "the vocabulary imports the standard library and internal packages only"
	}
	return ""
}

func TestDirection(t *testing.T) {
	for dir, p := range module(t) {
		if len(p.code) > 0 && layerOf(dir) == unplaced && !isInternal(dir) && !isTestSupport(dir) {
			t.Errorf("%s has no place in the table of layers", dir)
		}
		for _, f := range p.code {
			for _, target := range f.imports() {
				if why := direction(dir, target); why != "" {
					t.Errorf("%s imports %s: %s", f.path, target, why)
				}
			}
		}
	}
}

func TestDirectionBites(t *testing.T) {
	const ours = modulePath + "/"
	legal := [][2]string{
		{"cmd/turnstone", ours + "server"},
		{"cmd/turnstone", ours + "store/sqlite"},
		{"cmd/turnstone", ours + "turn"},
		{"cmd/turnstone", modulePath},
		{"cmd/turnstone", "net/http"},
		{"examples/quickstart", ours + "store/mem"},
		{"bench", ours + "store/postgres"},
		{"bench", ours + "internal/pgtest"},
		{"server", modulePath},
		{"server", "net/http"},
		{"server/mcp", ours + "server"},
		{"client", "net/http"},
		{"client", ours + "internal/sse"},
		{".", ours + "agent"},
		{".", ours + "bus/inproc"},
		{".", ours + "internal/ids"},
		{"agent", ours + "commit"},
		{"commit", ours + "store"},
		{"replay", ours + "turn"},
		{"replay", "github.com/klauspost/compress/zstd"},
		{"store", ours + "dialogue"},
		{"store", ours + "memory"},
		{"store/doctor", ours + "turn"},
		{"store/doctor", ours + "store"},
		{"replay", ours + "store/doctor"},
		{"store/sqlite", ours + "store"},
		{"store/sqlite", ours + "turn"},
		{"store/sqlite", ours + "internal/sqlmigrate"},
		{"store/sqlite", ours + "store/sqlite/schema"},
		{"store/sqlite", "database/sql"},
		{"store/sqlite", "modernc.org/sqlite"},
		{"store/postgres", "github.com/jackc/pgx/v5"},
		{"store/storetest", ours + "store/mem"},
		{"bus/natsbus", ours + "event"},
		{"bus/inproc", ours + "bus"},
		{"bus/inproc", ours + "store"},
		{"bus/natsbus", ours + "memory"},
		{"bus/natsbus", "github.com/nats-io/nats.go/jetstream"},
		{"bus/bustest", ours + "store/mem"},
		{"bus/bustest", "github.com/nats-io/nats-server/v2/server"},
		{"store/sqlite", ours + "memory"},
		{"llm/ollama", ours + "llm"},
		{"llm/ollama", ours + "turn"},
		{"llm/ollama", "net/http"},
		{"memory", ours + "compress"},
		{"compress", ours + "turn"},
		{"turn", "strings"},
		{"turn", ours + "internal/words"},
		{"internal/words", "golang.org/x/text/unicode/norm"},
		{"internal/ids", ours + "internal/words"},
		{"internal/pgtest", "github.com/jackc/pgx/v5"},
		{"internal/scenario", ours + "store/sqlite"},
	}
	illegal := [][2]string{
		{"turn", ours + "dialogue"},
		{"turn", ours + "store"},
		{"turn", modulePath},
		{"turn", "github.com/oklog/ulid/v2"},
		{"turn", "golang.org/x/text/unicode/norm"},
		{"turn", "net/http"},
		{"llm", "net/http"},
		{"compress", ours + "memory"},
		{"prompt", ours + "recall"},
		{"memory", ours + "store"},
		{"store", ours + "replay"},
		{"store", ours + "store/sqlite"},
		{"store", "database/sql"},
		{"replay", ours + "commit"},
		{"replay", ours + "store/mem"},
		{"replay", "github.com/jackc/pgx/v5/pgxpool"},
		{"agent", modulePath},
		{".", ours + "store/sqlite"},
		{".", ours + "server"},
		{".", ours + "store/storetest"},
		{"server", ours + "web"},
		{"server", ours + "bus/natsbus"},
		{"client", modulePath},
		{"client", ours + "turn"},
		{"store", ours + "bus/inproc"},
		{"store/doctor", ours + "store/sqlite"},
		{"store/doctor", ours + "replay"},
		{"store/elsewhere", ours + "turn"},
		{"cmd/turnstone", ours + "store/elsewhere"},
		{"store/sqlite", ours + "store/doctor"},
		{"store/sqlite", ours + "store/postgres"},
		{"store/sqlite", ours + "store/storetest"},
		{"store/sqlite", ours + "replay"},
		{"store/sqlite", ours + "bus"},
		{"store/sqlite", modulePath},
		{"bus", ours + "store/mem"},
		{"bus", ours + "commit"},
		{"bus", "github.com/nats-io/nats.go"},
		{"bus/inproc", ours + "store/mem"},
		{"bus/inproc", ours + "store/doctor"},
		{"bus/inproc", ours + "bus/natsbus"},
		{"bus/inproc", ours + "bus/bustest"},
		{"bus/inproc", ours + "commit"},
		{"bus/inproc", ours + "agent"},
		{"llm/openai", ours + "llm/ollama"},
		{"cmd/turnstone", ours + "store/storetest"},
		{"cmd/turnstone", ours + "examples/quickstart"},
		{"cmd/turnstone", ours + "elsewhere"},
		{"elsewhere", ours + "turn"},
		{"internal/ids", ours + "turn"},
		{"internal/ids", ours + "internal/pgtest"},
		{"internal/ids", modulePath},
	}
	for _, pair := range legal {
		if why := direction(pair[0], pair[1]); why != "" {
			t.Errorf("%s imports %s: refused: %s", pair[0], pair[1], why)
		}
	}
	for _, pair := range illegal {
		if why := direction(pair[0], pair[1]); why == "" {
			t.Errorf("%s imports %s: not refused", pair[0], pair[1])
		}
	}
}
