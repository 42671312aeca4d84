package strictjson

import (
	"errors"
	"fmt"
	"strconv"
)

// Raw is one JSON value exactly as it was written, the whitespace inside it
// kept. Values handed out by this package are valid JSON without whitespace
// around them. Any other string may be converted to Raw too: the methods
// then return an error where they would return a value.
type Raw string

// Kind is what a JSON value is.
type Kind uint8

// The kinds of values. Invalid is the kind of what cannot start a value.
const (
	KindInvalid Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

var kindNames = [...]string{"no JSON value", "null", "true or false", "a number", "a string", "an array", "an object"}

// String names the kind with its article, ready for an error text.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Kind tells what the value is from its first character.
func (v Raw) Kind() Kind {
	if v == "" {
		return KindInvalid
	}
	switch c := v[0]; {
	case c == '"':
		return KindString
	case c == '{':
		return KindObject
	case c == '[':
		return KindArray
	case c == 't' || c == 'f':
		return KindBool
	case c == 'n':
		return KindNull
	case c == '-' || '0' <= c && c <= '9':
		return KindNumber
	}
	return KindInvalid
}

// IsNull reports whether the value is null.
func (v Raw) IsNull() bool { return v == "null" }

// String decodes a string. Without escapes the result is a substring of the
// value and nothing is allocated. Half a surrogate pair is refused.
func (v Raw) String() (string, error) {
	if v.Kind() != KindString {
		return "", v.wanted(KindString)
	}
	data := string(v)
	end, escaped, err := quoted(data, 0)
	if err != nil {
		return "", err
	}
	if err := finish(data, end); err != nil {
		return "", err
	}
	body := data[1 : end-1]
	if !escaped {
		return body, nil
	}
	return unescape(body, 1)
}

// Int decodes a whole number. A fraction or an exponent is refused, even where
// the number is whole (1.0, 1e3), and so is a number an int64 cannot hold.
func (v Raw) Int() (int64, error) {
	if err := v.checkNumber(); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("expected a whole number of 64 bits, found %s", v.excerpt())
	}
	if err != nil {
		return 0, fmt.Errorf("expected a whole number without fraction or exponent, found %s", v.excerpt())
	}
	return n, nil
}

// Float decodes a number to the nearest float64. A number too large for one is
// refused.
func (v Raw) Float() (float64, error) {
	if err := v.checkNumber(); err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return 0, fmt.Errorf("expected a number of 64 bits, found %s", v.excerpt())
	}
	return f, nil
}

// Bool decodes true or false.
func (v Raw) Bool() (bool, error) {
	switch v {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, v.wanted(KindBool)
}

// Array calls element once per element, in order, under the rules of the
// package's [Object].
func (v Raw) Array(element func(Raw) error) error { return array(string(v), element) }

// Object calls field once per member, in order, under the rules of the
// package's [Object].
func (v Raw) Object(field func(name string, value Raw) error) error {
	return Object(string(v), field)
}

// checkNumber holds the number against JSON's grammar, which is narrower than
// strconv's.
func (v Raw) checkNumber() error {
	if v.Kind() != KindNumber {
		return v.wanted(KindNumber)
	}
	end, err := number(string(v), 0)
	if err != nil {
		return err
	}
	return finish(string(v), end)
}

func (v Raw) wanted(kind Kind) error {
	return fmt.Errorf("expected %v, found %v", kind, v.Kind())
}

// excerpt keeps a hostile number from filling the error text.
func (v Raw) excerpt() string {
	if len(v) > 40 {
		return string(v[:40]) + "…"
	}
	return string(v)
}
