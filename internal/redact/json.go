package redact

import (
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Mark stands where a text was. Further ones in the same document are numbered, since some lists hold each text
// once.
const Mark = "[forgotten]"

// Fields says which members of a document hold texts.
type Fields struct {
	// Texts hold a text or a list of texts.
	Texts []string
	// Whole hold any JSON, all of whose names, texts and numbers count.
	Whole []string
	// Named hold a text with names around it that are nobody's words, and how it is taken apart: with brackets around it, or all of
	// the member where that has no such name.
	Named map[string]func(string) (before, said, after string)
}

// JSON returns a document with every text replaced that stands in one of the fields, at any depth, and is hit. What
// is not replaced stays byte for byte; changed is false if nothing was. The document must be JSON.
func JSON(doc string, fields Fields, hit func(string) bool) (redacted string, changed bool, err error) {
	return (&redactor{hit: hit}).document(doc, fields)
}

func (r *redactor) document(doc string, fields Fields) (redacted string, changed bool, err error) {
	r.texts, r.whole, r.named = make(map[string]bool), make(map[string]bool), fields.Named
	for _, f := range fields.Texts {
		r.texts[f] = true
	}
	for _, f := range fields.Whole {
		r.whole[f] = true
	}
	out, err := r.value(strictjson.Raw(doc), r.least)
	if err != nil {
		return "", false, err
	}
	return out, r.marks > 0, nil
}

// Says reports whether any text of a document is hit, in whatever member it stands, or a name or a number in one of those
// that hold any JSON. The names that a document's writer gave its members say nothing.
func Says(doc string, whole []string, hit func(string) bool) (bool, error) {
	_, said, err := (&redactor{hit: hit, least: text}).document(doc, Fields{Whole: whole})
	return said, err
}

// IsMark reports whether a text stands for one that is gone.
func IsMark(text string) bool {
	number, ok := strings.CutPrefix(text, Mark[:len(Mark)-1])
	number, ends := strings.CutSuffix(number, "]")
	return ok && ends && (number == "" || number[0] == ' ' && strings.Trim(number[1:], "0123456789") == "")
}

// scope is how much of a value may be replaced.
type scope int

const (
	nothing scope = iota
	text          // itself, and what a list holds
	all           // whatever it holds, names too
)

type redactor struct {
	hit          func(string) bool
	texts, whole map[string]bool
	named        map[string]func(string) (before, said, after string)
	least        scope // of members that nothing is said of
	marks        int
}

func (r *redactor) value(v strictjson.Raw, s scope) (string, error) {
	switch v.Kind() {
	case strictjson.KindObject:
		return r.object(v, s)
	case strictjson.KindArray:
		return r.array(v, s)
	case strictjson.KindString:
		said, err := v.String()
		if err != nil || s == nothing || !r.hit(said) {
			return string(v), err
		}
		return string(strictjson.AppendString(nil, r.mark())), nil
	case strictjson.KindNumber:
		if s == all && r.hit(string(v)) {
			r.marks++
			return "0", nil
		}
	}
	return string(v), nil
}

// mark is what stands in the place of the next text.
func (r *redactor) mark() string {
	if r.marks++; r.marks == 1 {
		return Mark
	}
	return Mark[:len(Mark)-1] + " " + strconv.Itoa(r.marks) + "]"
}

func (r *redactor) object(v strictjson.Raw, s scope) (string, error) {
	before, first := r.marks, true
	dst := []byte{'{'}
	err := v.Object(func(name string, value strictjson.Raw) error {
		within := r.least
		switch {
		case s == all || r.whole[name]:
			within = all
		case r.texts[name]:
			within = text
		}
		inner, err := r.member(name, value, within)
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if s == all && r.hit(name) {
			name = r.mark()
		}
		dst = append(strictjson.AppendString(dst, name), ':')
		dst = append(dst, inner...)
		return err
	})
	if err != nil || r.marks == before {
		return string(v), err
	}
	return string(append(dst, '}')), nil
}

func (r *redactor) member(name string, v strictjson.Raw, s scope) (string, error) {
	split := r.named[name]
	if split == nil || s == all || v.Kind() != strictjson.KindString {
		return r.value(v, s)
	}
	whole, err := v.String()
	if err != nil {
		return "", err
	}
	before, said, after := split(whole)
	words := said
	if len(said) < len(whole) {
		words = strings.TrimSuffix(strings.TrimPrefix(said, "["), "]")
	}
	if IsMark(said) || !r.hit(words) {
		return string(v), nil
	}
	return string(strictjson.AppendString(nil, before+r.mark()+after)), nil
}

func (r *redactor) array(v strictjson.Raw, s scope) (string, error) {
	before, first := r.marks, true
	dst := []byte{'['}
	err := v.Array(func(value strictjson.Raw) error {
		inner, err := r.value(value, s)
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, inner...)
		return err
	})
	if err != nil || r.marks == before {
		return string(v), err
	}
	return string(append(dst, ']')), nil
}
