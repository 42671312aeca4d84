package main

import "testing"

func TestMediaTypeOf(t *testing.T) {
	const png, wav, ogg = "\x89PNG\r\n\x1a\n", "RIFF\x00\x00\x00\x00WAVE", "OggS\x00"
	for _, test := range []struct{ path, data, want string }{
		{"cat.PNG", "", "image/png"},
		{"cat.jpeg", png, "image/jpeg"},
		{"cat", png, "image/png"},
		{"cat.unknown", png, "image/png"},
		{"memo", wav, "audio/wav"},
		{"memo.bin", ogg, "audio/ogg"},
		{"memo.mp3", "", "audio/mpeg"},
		{"letter.txt", "Dear reader", "text/plain"},
		{"empty", "", "text/plain"},
	} {
		if got := mediaTypeOf(test.path, []byte(test.data)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.path, got, test.want)
		}
	}
}
