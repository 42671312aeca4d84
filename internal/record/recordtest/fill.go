// Package recordtest draws records for tests that hold what is written member by member against the tables that read it.
package recordtest

import (
	"reflect"
	"time"

	"pgregory.net/rapid"
)

// Fill draws something, or nothing, for every field of what to points to, so that a field that is added is drawn too. Own,
// unless it is nil, is handed a pointer to each first, and reports whether it has drawn that itself.
func Fill(t *rapid.T, to any, label string, own func(at any, label string) bool) {
	fill(t, reflect.ValueOf(to).Elem(), label, own)
}

func fill(t *rapid.T, v reflect.Value, label string, own func(at any, label string) bool) {
	if rapid.Bool().Draw(t, label+" is empty") {
		return
	}
	at := v.Addr().Interface()
	if own != nil && own(at, label) {
		return
	}
	if at, ok := at.(*time.Time); ok {
		*at = time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(t, label)).UTC()
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), label+"."+v.Type().Field(i).Name, own)
		}
	case reflect.Slice:
		n := rapid.IntRange(1, 3).Draw(t, label)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i), label, own)
		}
	case reflect.String:
		v.SetString(rapid.StringMatching(`[a-zé"{}\n]*`).Draw(t, label))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(-1, 1).Draw(t, label))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(-1<<40, 1<<40).Draw(t, label))
	default:
		t.Fatalf("%s: draw a %s", label, v.Type())
	}
}
