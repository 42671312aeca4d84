package front

import "errors"

// errUntranslated says that two servers speak in different ways.
var errUntranslated = errors.New("the server upstream speaks as OpenAI does: what is only recorded is not translated")

// record passes a call and its answer on untouched, byte for byte, and keeps the log beside it. A call that is not understood
// is passed on too.
func (x *exchange) record(a api, body []byte) {
	f, w := x.front, x.to.w
	if f.config.Upstream.Kind == OpenAI && a.kind() == Ollama {
		f.refuse(w, a, &badCall{errUntranslated})
		return
	}
	c, err := f.decodeCall(a, x.engine.Tenant(), x.from.Header.Get(SessionHeader), body)
	if err != nil || c.bare() {
		if err := f.forward(w, x.from, body); err != nil {
			f.excuse(w, x.from, a, err)
		}
		return
	}
	x.call, x.kind, x.verbatim, x.recorded, x.several = c, a.kind(), true, true, c.single() != nil
	if err := x.run(x.from.Context()); err != nil {
		x.fail(err)
	}
}

func (x *exchange) unrecorded(err error) {
	x.front.log.Warn("call not recorded", "path", x.from.URL.Path, "error", err)
}
