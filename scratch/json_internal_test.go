package scratch

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fill draws something, or nothing, for every field of a value, so that one that is added is drawn too.
func fill(t *rapid.T, v reflect.Value, label string) {
	if rapid.Bool().Draw(t, label+" is empty") {
		return
	}
	if at, ok := v.Addr().Interface().(*time.Time); ok {
		*at = time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(t, label)).UTC()
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), label+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		n := rapid.IntRange(1, 3).Draw(t, label)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i), label)
		}
	case reflect.String:
		v.SetString(rapid.StringMatching(`[a-zé"{}\n]*`).Draw(t, label))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(-1, 1).Draw(t, label))
	case reflect.Int64:
		v.SetInt(rapid.Int64Range(-1<<40, 1<<40).Draw(t, label))
	default:
		t.Fatalf("%s: draw a %s", label, v.Type())
	}
}

// What is written member by member is what the table, which reads it, would write.
func TestObservationsAreWrittenAsTheirTableSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o Observation
		fill(t, reflect.ValueOf(&o).Elem(), "observation")
		if want, got := string(observationFields.Append(nil, &o)), string(o.append(nil)); want != got {
			t.Fatalf("the observation is\n%s\nwant\n%s", got, want)
		}
	})
}
