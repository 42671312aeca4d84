package commit

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/trace"
)

// fill draws something for every field of a value, so that one that is added is drawn too. Raw JSON it draws as a number.
func fill(t *rapid.T, v reflect.Value, label string) {
	if rapid.Bool().Draw(t, label+" is empty") {
		return
	}
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(t, label)).UTC()
		return
	case *memory.Episode:
		*at = memory.Episode{ID: "01KG0000000000000000000001", Type: memory.Event, Text: "it rained"}
		return
	case *Update:
		*at = Update{ID: rapid.StringMatching(`[a-z"]*`).Draw(t, label), Change: rapid.StringMatching(`[1-9]`).Draw(t, label)}
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
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(-1<<40, 1<<40).Draw(t, label))
	default:
		t.Fatalf("%s: draw a %s", label, v.Type())
	}
}

// What is written member by member is what the tables, which read it, would write.
func TestOutboxIsWrittenAsItsTableSays(t *testing.T) {
	// They cannot be set by reflection, so that each is drawn by its name.
	if drawn := 6 + 1; len(outboxedFields) != drawn {
		t.Fatalf("an outbox row has %d fields and %d are drawn: draw the others too", len(outboxedFields), drawn)
	}
	rapid.Check(t, func(t *rapid.T) {
		begun := trace.TurnTrace{TurnID: "t", Status: "complete", Started: time.Unix(1, 0), Spans: []trace.Span{{Phase: "reflect"}}}
		o := outboxed{trace: string(begun.AppendJSON(nil))}
		fill(t, reflect.ValueOf(&o.export).Elem(), "export")
		fill(t, reflect.ValueOf(&o.flawed).Elem(), "flawed")
		fill(t, reflect.ValueOf(&o.input).Elem(), "input")
		fill(t, reflect.ValueOf(&o.reply).Elem(), "reply")
		fill(t, reflect.ValueOf(&o.items).Elem(), "items")
		fill(t, reflect.ValueOf(&o.inline).Elem(), "inline")
		want, got := string(outboxedFields.Append(nil, &o)), string(o.append(nil, &begun))
		if want != got {
			t.Fatalf("the outbox row is\n%s\nwant\n%s", got, want)
		}
	})
}
