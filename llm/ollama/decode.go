package ollama

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// members calls member for each member of the object that comes next; member must read its value.
func members(d *json.Decoder, field string, member func(name string) error) error {
	if err := begin(d, field, '{', "an object"); err != nil {
		return err
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, is := token.(string)
		if !is {
			return unlike(field, "has a member without a name")
		}
		if err := member(name); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// elements calls element for each element of the array that comes next, at most most of them; null has none.
// element must read its value.
func elements(d *json.Decoder, field string, most int, element func() error) error {
	token, err := d.Token()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('[') {
		return unlike(field, "is "+what(token)+", not an array")
	}
	for n := 0; d.More(); n++ {
		if n == most {
			return unlike(field, "has more than "+strconv.Itoa(most)+" elements")
		}
		if err := element(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func begin(d *json.Decoder, field string, delim json.Delim, name string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != delim {
		return unlike(field, "is "+what(token)+", not "+name)
	}
	return nil
}

// text reads a string; null is an empty one.
func text(d *json.Decoder, field string) (string, error) {
	token, err := d.Token()
	if err != nil || token == nil {
		return "", err
	}
	s, is := token.(string)
	if !is {
		return "", unlike(field, "is "+what(token)+", not a string")
	}
	return s, nil
}

// number reads a number; null is 0.
func number(d *json.Decoder, field string) (json.Number, error) {
	token, err := d.Token()
	if err != nil || token == nil {
		return "0", err
	}
	n, is := token.(json.Number)
	if !is {
		return "", unlike(field, "is "+what(token)+", not a number")
	}
	return n, nil
}

// whole reads a whole number of the given bits.
func whole(d *json.Decoder, field string, bits int) (int64, error) {
	n, err := number(d, field)
	if err != nil {
		return 0, err
	}
	i, err := strconv.ParseInt(n.String(), 10, bits)
	if err != nil {
		return 0, unlike(field, fmt.Sprintf("%.40s is no whole number of %d bits", n, bits))
	}
	return i, nil
}

// truth reads true or false; null is false.
func truth(d *json.Decoder, field string) (bool, error) {
	token, err := d.Token()
	if err != nil || token == nil {
		return false, err
	}
	b, is := token.(bool)
	if !is {
		return false, unlike(field, "is "+what(token)+", neither true nor false")
	}
	return b, nil
}

// skip reads a value that nobody wants without keeping it, however deep it is.
func skip(d *json.Decoder) error {
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

func what(token json.Token) string {
	switch token := token.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(token)
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case json.Delim:
		if token == '[' {
			return "an array"
		}
	}
	return "an object"
}
