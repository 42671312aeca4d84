package main

import "bytes"

// plainJSON is JSON as editors and shells save it, without the mark that some put before UTF-8. UTF-16 is refused: the first character of
// JSON is ASCII, so that its other byte is 0.
func plainJSON(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) < 2 {
		return data, nil
	}
	if mark := [2]byte(data); mark == [2]byte{0xfe, 0xff} || mark == [2]byte{0xff, 0xfe} || mark[0] == 0 || mark[1] == 0 {
		return nil, usage("save it as UTF-8", "it is UTF-16")
	}
	return data, nil
}
