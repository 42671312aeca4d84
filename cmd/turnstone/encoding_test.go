package main

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"
)

func TestPlainJSON(t *testing.T) {
	const text = `{"a":"ü"}`
	utf16of := func(order binary.AppendByteOrder, text string) (data []byte) {
		for _, unit := range utf16.Encode([]rune(text)) {
			data = order.AppendUint16(data, unit)
		}
		return data
	}
	for name, data := range map[string][]byte{
		"little endian with a mark": utf16of(binary.LittleEndian, "\ufeff"+text), "big endian with a mark": utf16of(binary.BigEndian, "\ufeff"+text),
		"little endian": utf16of(binary.LittleEndian, text), "big endian": utf16of(binary.BigEndian, text),
	} {
		if got, err := plainJSON(data); err == nil || err.Error() != "it is UTF-16; save it as UTF-8" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for in, want := range map[string]string{text: text, "\ufeff" + text: text, "": "", "{": "{", "\ufeff": ""} {
		if got, err := plainJSON([]byte(in)); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}
