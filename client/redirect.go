package client

import (
	"errors"
	"net/http"
)

// mostRedirects is how often a request is sent on, as for [http.Client].
const mostRedirects = 10

// following is a client that follows those redirects only that keep what a request asks for and who can read it. Others
// are returned as the answers that they are: a POST that is sent on as a GET would be answered as if it had been done.
func following(given *http.Client) *http.Client {
	h := *given
	h.CheckRedirect = func(next *http.Request, sent []*http.Request) error {
		first := sent[0]
		switch {
		case next.Method != first.Method, first.URL.Scheme == "https" && next.URL.Scheme != "https":
			return http.ErrUseLastResponse
		case given.CheckRedirect != nil:
			return given.CheckRedirect(next, sent)
		case len(sent) >= mostRedirects:
			return errors.New("it is sent on in circles")
		}
		return nil
	}
	return &h
}
