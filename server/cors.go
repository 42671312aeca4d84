package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// AnyOrigin stands for the pages of all origins.
const AnyOrigin = "*"

// preflightAge is for how many seconds a browser need not ask again whether a page may.
const preflightAge = "600"

// origins are whose pages may ask, as browsers name them.
type origins []string

// CheckOrigins says what is wrong with [Config.Origins] as [New] does, where keys are asked for or not.
func CheckOrigins(list []string, keys bool) error {
	_, err := originsOf(list, keys)
	return err
}

// originsOf reads a list. Where nobody shows a key, any page at all could read and change everything, whoever runs it.
func originsOf(list []string, keys bool) (origins, error) {
	var all origins
	for _, given := range list {
		if given == AnyOrigin && !keys {
			return nil, invalid.New("Origins", "* lets every page in the browser do everything where nobody needs a key", "name the origins, or ask for keys with --keys")
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
	no := func(problem, fix string) (string, error) {
		return "", invalid.New("Origins", fmt.Sprintf("%.100q %s", given, problem), fix)
	}
	const form = "give a scheme, a host and a port if it has one, such as https://chat.example:8443"
	u, err := url.Parse(strings.ToLower(given))
	if err != nil || u.Scheme == "" || u.Hostname() == "" {
		return no("is no origin", form)
	}
	origin := u.Scheme + "://" + u.Host
	_, port, ported := strings.Cut(strings.TrimPrefix(u.Host, "["+u.Hostname()+"]"), ":")
	number, err := strconv.ParseUint(port, 10, 16)
	switch {
	case strings.ToLower(given) == origin+"/":
		return no("ends with a slash, which no origin does", "give "+origin)
	case strings.ContainsFunc(u.Host, func(c rune) bool { return c > unicode.MaxASCII }):
		return no("has a host that is not ASCII, which browsers name in another way", "give it as xn--…")
	case ported && (err != nil || number == 0):
		return no("has a port that is none", "give one of 1 to 65535, or leave it out")
	case strings.Contains(u.Host, "*") || origin != strings.ToLower(given):
		return no("is no origin", form)
	}
	if u.Scheme == "http" && number == 80 || u.Scheme == "https" && number == 443 {
		return strings.TrimSuffix(origin, ":"+port), nil // browsers leave it out
	}
	return origin, nil
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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, origin := w.Header(), r.Header.Get("Origin")
		if len(s.origins) > 0 {
			header.Add("Vary", "Origin")
		}
		preflight := r.Method == http.MethodOptions && origin != "" && r.Header.Get("Access-Control-Request-Method") != ""
		allowed := s.origins.allow(origin)
		switch {
		case allowed == "" && preflight && !strings.HasSuffix(origin, "://"+r.Host):
			s.refusalOf(r)(w, r, elsewhere(origin))
			return
		case allowed == "":
			next.ServeHTTP(w, r)
			return
		}
		header.Set("Access-Control-Allow-Origin", allowed)
		if !preflight {
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

// refusalOf is how whoever asks for that path is told no.
func (s *Server) refusalOf(r *http.Request) func(http.ResponseWriter, *http.Request, error) {
	path := r.URL.Path
	if strings.HasPrefix(path, prefix+"/") || !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/v1/") {
		return s.writeProblem
	}
	return s.refuseFront
}

// elsewhere refuses a page of an origin that is not among those that may ask. A page may be of none that has a name.
func elsewhere(origin string) *Problem {
	named, err := originOf(origin)
	if err != nil || named == AnyOrigin {
		return refuse(http.StatusForbidden, "the request comes from a page of another origin, and not of one that can be let ask; serve the page over HTTP, and let it ask with: serve --cors-origin ORIGIN")
	}
	return refuse(http.StatusForbidden, "the request comes from a page of another origin, %s; let its pages ask with: serve --cors-origin %s", named, named)
}
