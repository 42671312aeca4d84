package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// member is a member of a record: the names that it may stand under, and what takes its value.
type member struct {
	names []string
	read  func(name string, v strictjson.Raw) error
}

// decodeMembers reads one object; what is none of the members is refused by name.
func decodeMembers(value string, legal ...member) error {
	return strictjson.Object(value, func(name string, v strictjson.Raw) error {
		i := slices.IndexFunc(legal, func(m member) bool { return slices.Contains(m.names, name) })
		if i >= 0 {
			if err := legal[i].read(name, v); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
		var all []string
		for _, m := range legal {
			all = append(all, m.names...)
		}
		return fmt.Errorf("%q is not a member; legal here: %s", name, strings.Join(all, ", "))
	})
}

// valueMember is a member of a simple kind.
func valueMember[T any](name string, to *T, read func(strictjson.Raw) (T, error)) member {
	return member{[]string{name}, func(_ string, v strictjson.Raw) (err error) {
		*to, err = read(v)
		return err
	}}
}

func intMember(name string, to *int64) member { return valueMember(name, to, strictjson.Raw.Int) }

func boolMember(name string, to *bool) member { return valueMember(name, to, strictjson.Raw.Bool) }

func textMember[T ~string](name string, to *T) member {
	return valueMember(name, to, func(v strictjson.Raw) (T, error) {
		s, err := v.String()
		return T(s), err
	})
}

func timeMember(name string, to *time.Time) member { return valueMember(name, to, decodeTime) }

// rawMember is what appendRaw writes: JSON, or the same as a string under another name.
func rawMember(name string, to *string) member {
	return member{[]string{name, name + "_text"}, func(name string, v strictjson.Raw) error { return decodeRaw(to, name, v) }}
}
