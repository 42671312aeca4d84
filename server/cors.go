package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// AnyOrigin stands for the pages of all origins.
const AnyOrigin = "*"

// preflightAge is for how many seconds a browser need not ask again whether a page may.
const preflightAge = "600"

// origins are whose pages may ask, as browsers name them.
type origins []string

// originsOf reads a list. Where nobody shows a key, any page at all could read and change everything, whoever runs it.
func originsOf(list []string, keys bool) (origins, error) {
	var all origins
	for _, given := range list {
		if given == AnyOrigin && !keys {
			return nil, invalid.New("Origins", "* lets every page in the browser do everything where nobody needs a key", "name the origins, or ask for keys")
		}
		origin, err := originOf(given)
		if err != nil {
			return nil, err
		}
		all = append(all, origin)
	}
	return all, nil
}

func originOf(given string) (string, error) {
	if given == AnyOrigin {
		return given, nil
	}
	u, err := url.Parse(strings.ToLower(given))
	if err != nil || u.Scheme == "" || u.Hostname() == "" || strings.Contains(u.Host, "*") || u.Scheme+"://"+u.Host != strings.ToLower(given) {
		return "", invalid.New("Origins", fmt.Sprintf("%.100q is no origin", given), "give a scheme, a host and a port if it has one, such as https://chat.example:8443")
	}
	if u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
		return strings.TrimSuffix(u.Scheme+"://"+u.Host, ":"+u.Port()), nil // browsers leave it out
	}
	return u.Scheme + "://" + u.Host, nil
}

// allow is what a page of that origin is told of who may ask, empty where it may not.
func (o origins) allow(origin string) string {
	switch {
	case origin == "":
		return ""
	case slices.Contains(o, AnyOrigin):
		return AnyOrigin
	case slices.Contains(o, origin):
		return origin
	default:
		return ""
	}
}

// keyless keeps pages that nobody named from reading what is told to everybody who gets here: the browser that they are in may get
// to where they do not.
func (s *Server) keyless(next http.Handler) http.Handler {
	if !slices.Contains(s.origins, AnyOrigin) {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(s.origins, r.Header.Get("Origin")) {
			w.Header().Del("Access-Control-Allow-Origin")
		}
		next.ServeHTTP(w, r)
	})
}

// crossed lets browsers hand answers to pages of other origins, and answers them when they ask whether a page may. Cookies are
// not among what it may send: nobody is known by one.
func (s *Server) crossed(next http.Handler) http.Handler {
	if len(s.origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Add("Vary", "Origin")
		allowed := s.origins.allow(r.Header.Get("Origin"))
		if allowed == "" {
			next.ServeHTTP(w, r)
			return
		}
		header.Set("Access-Control-Allow-Origin", allowed)
		asks := r.Header.Get("Access-Control-Request-Method")
		if r.Method != http.MethodOptions || asks == "" {
			header.Set("Access-Control-Expose-Headers", "*")
			next.ServeHTTP(w, r)
			return
		}
		// What there is behind the path is told when it is asked for.
		header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
		if names := r.Header.Get("Access-Control-Request-Headers"); names != "" {
			header.Set("Access-Control-Allow-Headers", names)
		}
		header.Set("Access-Control-Max-Age", preflightAge)
		w.WriteHeader(http.StatusNoContent)
	})
}
