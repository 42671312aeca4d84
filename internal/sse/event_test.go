package sse_test

import (
	"errors"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/sse"
)

func TestAppend(t *testing.T) {
	for _, test := range []struct {
		name  string
		event sse.Event
		want  string
	}{
		{"data only", sse.Event{Data: `{"a":1}`}, "data: {\"a\":1}\n\n"},
		{"all", sse.Event{ID: "7", Name: "undone", Data: "x", Retry: 1500 * time.Microsecond}, "retry: 1\nid: 7\nevent: undone\ndata: x\n\n"},
		{"id 0", sse.Event{ID: "0", Data: "x"}, "id: 0\ndata: x\n\n"},
		{"id only", sse.Event{ID: "7"}, "id: 7\n\n"},
		{"lines", sse.Event{Data: "a\nb\r\nc\rd\n"}, "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"},
		{"a space at the front", sse.Event{Data: " a"}, "data:  a\n\n"},
		{"nothing", sse.Event{Retry: time.Microsecond}, "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := sse.Append([]byte("before|"), test.event)
			if err != nil || string(got) != "before|"+test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	for _, test := range []struct {
		event sse.Event
		field string
	}{
		{sse.Event{ID: "a\nb"}, "id"},
		{sse.Event{ID: "a\rb"}, "id"},
		{sse.Event{ID: "a\x00b"}, "id"},
		{sse.Event{Name: "a\ndata: forged"}, "event"},
		{sse.Event{Name: "a\r"}, "event"},
	} {
		got, err := sse.Append([]byte("before"), test.event)
		var field *invalid.Field
		if !errors.As(err, &field) || field.Name != test.field || string(got) != "before" {
			t.Errorf("%+v: %q, %v", test.event, got, err)
		}
	}
}
