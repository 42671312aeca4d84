package ollama

import (
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
)

// hostVariable is the environment variable in which Ollama's own programs look for the server.
const hostVariable = "OLLAMA_HOST"

// Address reads the address of a server as Ollama's variable OLLAMA_HOST has it, a host, a port or a URL, and
// returns its URL. A host that stands alone has Ollama's port; an address to listen on everywhere is this
// machine; empty is [DefaultURL].
func Address(given string) (string, error) {
	given = strings.TrimSpace(given)
	if given == "" {
		return DefaultURL, nil
	}
	bare := !strings.Contains(given, "://")
	if bare {
		given = "http://" + given
	}
	u, err := url.Parse(given)
	// The text of the error would have all of the address, and a password may be in it.
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("this is no address of a server; give a URL such as " + DefaultURL)
	}
	host, port := u.Hostname(), u.Port()
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	if port == "" && bare {
		port = defaultPort
	}
	switch {
	case port != "":
		u.Host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		u.Host = "[" + host + "]"
	default:
		u.Host = host
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// defaultPort is the one in DefaultURL.
const defaultPort = "11434"

// address is the server's: the given one, the environment's or the usual one.
func address(given string) (string, error) {
	if given == "" {
		given = os.Getenv(hostVariable)
	}
	return Address(given)
}
