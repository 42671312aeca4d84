// Package strictjson reads and writes the JSON of stored records: strictly,
// exactly and without copying what it does not have to.
//
// It differs from encoding/json where a record that is kept for ever must not
// be ambiguous: a member name may appear once in an object, names are matched
// exactly as written, text is valid UTF-8, and a string that holds half a
// surrogate pair is refused instead of repaired. Values nobody decodes stay
// the bytes they were.
//
// Errors name the byte offset in the value being read and what was expected
// there, or what stands in the place of a value of another type; callers add
// the name of the field. Every function may be called concurrently.
package strictjson

import "fmt"

// MaxDepth is how many arrays and objects [Check] lets a value nest.
const MaxDepth = 1000

// readDepth leaves room for the records that enclose a checked value, so that
// whatever Check let in can always be read back.
const readDepth = MaxDepth + 64

// Object reads data as one JSON object and calls field once per member, in
// the order written. name is decoded; value is a substring of data without the
// whitespace around it. An object with no members is legal.
//
// It refuses data that is not valid JSON or not valid UTF-8, that is not an
// object, that has anything but whitespace after the object, that names a
// member twice, that has a name with half a surrogate pair, or that nests more
// than a little deeper than [MaxDepth]. Objects inside a value are checked for
// repeated names when they are read themselves, with [Raw.Object].
//
// field runs while data is still being read: when Object returns an error, what
// field collected must be dropped. An error from field ends the reading and is
// returned as it is.
func Object(data string, field func(name string, value Raw) error) error {
	i, err := open(data, '{', "an object")
	if err != nil {
		return err
	}
	var seen names
	i, err = list(data, i, '}', func(i int) (int, error) {
		nameAt := i
		i, escaped, err := quoted(data, i)
		if err != nil {
			return 0, err
		}
		name := data[nameAt+1 : i-1]
		if escaped {
			if name, err = unescape(name, nameAt+1); err != nil {
				return 0, err
			}
		}
		if !seen.add(name) {
			return 0, fmt.Errorf("offset %d: member %q appears twice", nameAt, name)
		}
		if i, err = colon(data, i); err != nil {
			return 0, err
		}
		end, err := skip(data, i, 1, readDepth)
		if err != nil {
			return 0, err
		}
		return end, field(name, Raw(data[i:end]))
	})
	if err != nil {
		return err
	}
	return finish(data, i)
}

// array reads data as one JSON array, like Object does an object.
func array(data string, element func(Raw) error) error {
	i, err := open(data, '[', "an array")
	if err != nil {
		return err
	}
	i, err = list(data, i, ']', func(i int) (int, error) {
		end, err := skip(data, i, 1, readDepth)
		if err != nil {
			return 0, err
		}
		return end, element(Raw(data[i:end]))
	})
	if err != nil {
		return err
	}
	return finish(data, i)
}

// Check says whether data is one JSON value that may be stored as it is: valid
// JSON, valid UTF-8, no NUL byte, nothing after it but whitespace, and no
// deeper than [MaxDepth]. What strings and names mean is not looked at: repeated
// names and half surrogate pairs written as escapes are the caller's own.
func Check(data string) error {
	i, err := skip(data, space(data, 0), 0, MaxDepth)
	if err != nil {
		return err
	}
	return finish(data, i)
}

// open finds the bracket that starts a value of the wanted kind and returns the
// offset after it.
func open(data string, bracket byte, kind string) (int, error) {
	i := space(data, 0)
	if i == len(data) || data[i] != bracket {
		if Check(data) == nil {
			return 0, fmt.Errorf("expected %s, found %v", kind, Raw(data[i:]).Kind())
		}
		return 0, expected(data, i, kind)
	}
	return i + 1, nil
}

// finish refuses anything but whitespace from offset i on.
func finish(data string, i int) error {
	if i = space(data, i); i != len(data) {
		return expected(data, i, "nothing after the value")
	}
	return nil
}

// names is the set of member names seen in one object. Records have few
// members: those are compared one by one, without an allocation.
type names struct {
	few  [16]string
	n    int
	many map[string]struct{}
}

// add reports whether name was not in the set yet.
func (s *names) add(name string) bool {
	for _, have := range s.few[:s.n] {
		if have == name {
			return false
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return true
	}
	if _, have := s.many[name]; have {
		return false
	}
	if s.many == nil {
		s.many = make(map[string]struct{})
	}
	s.many[name] = struct{}{}
	return true
}
