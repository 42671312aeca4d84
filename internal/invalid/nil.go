package invalid

import "reflect"

// Nil reports whether v is nil, or an interface that holds a nil pointer, function, map, channel or slice: calling it would panic.
func Nil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Slice:
		return r.IsNil()
	default:
		return false
	}
}
