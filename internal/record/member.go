package record

import (
	"strconv"
	"time"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// The functions of this file write records member by member, as [Fields.Append] does without a table: between two commits the
// tables of what every commit writes, with their functions for each field, have long left the processor's caches. Who uses
// them has a test that holds what is written against the table, which still reads it.

// AppendTime appends a member that is a time, unless that is zero.
func AppendTime(dst []byte, name string, t time.Time) []byte {
	if t == (time.Time{}) {
		return dst
	}
	return appendTime(AppendName(dst, name), t)
}

// AppendFloat appends a member that is a number, also where it is 0.
func AppendFloat(dst []byte, name string, f float64) []byte {
	return strconv.AppendFloat(AppendName(dst, name), f, 'g', -1, 64)
}

// AppendName appends what comes before the value of a member. No value ends as an object begins.
func AppendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), '"', ':')
}

// AppendText appends a member of text, unless it is empty.
func AppendText[S ~string](dst []byte, name string, s S) []byte {
	if s == "" {
		return dst
	}
	return strictjson.AppendString(AppendName(dst, name), string(s))
}

// AppendInt appends a member that is a whole number, unless it is 0.
func AppendInt(dst []byte, name string, n int64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(AppendName(dst, name), n, 10)
}

// AppendTrue appends a member that is true, if it is.
func AppendTrue(dst []byte, name string, yes bool) []byte {
	if !yes {
		return dst
	}
	return append(AppendName(dst, name), "true"...)
}

// AppendTexts appends a member that is a list, unless that is empty.
func AppendTexts(dst []byte, name string, list []string) []byte {
	for i, s := range list {
		dst = strictjson.AppendString(AppendElement(dst, name, i), s)
	}
	return EndList(dst, len(list))
}

// AppendInts is AppendTexts for whole numbers.
func AppendInts(dst []byte, name string, list []int64) []byte {
	for i, n := range list {
		dst = strconv.AppendInt(AppendElement(dst, name, i), n, 10)
	}
	return EndList(dst, len(list))
}

// AppendElement appends what comes before element i of the list that is a member of that name.
func AppendElement(dst []byte, name string, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return append(AppendName(dst, name), '[')
}

// EndList ends what AppendElement began, if there are any elements.
func EndList(dst []byte, n int) []byte {
	if n == 0 {
		return dst
	}
	return append(dst, ']')
}
