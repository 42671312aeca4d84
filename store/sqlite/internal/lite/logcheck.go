package lite

import (
	"encoding/binary"
	"unsafe"

	"modernc.org/sqlite/lib"
)

// The layout of a write-ahead log, as SQLite documents it: a header, and one before each page. Each ends with the sum of all
// that comes before it in the log.
const (
	logHeader   = 32
	frameHeader = 24
	summed      = 8 // bytes of a frame's header that the sum includes
)

// intact reports whether a log is what its index was made for. Frames have so many bytes.
func intact(index *sqlite3.TWalIndexHdr, log []byte, size int64) bool {
	var words binary.ByteOrder = binary.LittleEndian
	if index.FbigEndCksum != 0 {
		words = binary.BigEndian
	}
	salts := saltsOf(unsafe.Slice((*byte)(unsafe.Pointer(&index.FaSalt)), unsafe.Sizeof(index.FaSalt)))
	header := log[:logHeader]
	sum := logSum{}.add(words, header[:logHeader-8])
	if saltsOf(header[16:]) != salts || !sum.is(header[logHeader-8:]) {
		return false
	}
	for log = log[logHeader:]; len(log) > 0; log = log[size:] {
		frame := log[:size]
		sum = sum.add(words, frame[:summed]).add(words, frame[frameHeader:])
		if saltsOf(frame[summed:]) != salts || !sum.is(frame[summed+8:]) {
			return false
		}
	}
	// A commit that failed may have left others like them, but not with this sum at the end.
	return sum == index.FaFrameCksum
}

// saltsOf reads what tells a log from those before it.
func saltsOf(header []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[4:])}
}

// logSum is SQLite's sum of a log so far.
type logSum [2]uint32

func (s logSum) add(words binary.ByteOrder, data []byte) logSum {
	for ; len(data) >= 8; data = data[8:] {
		s[0] += words.Uint32(data) + s[1]
		s[1] += words.Uint32(data[4:]) + s[0]
	}
	return s
}

func (s logSum) is(written []byte) bool {
	return s[0] == binary.BigEndian.Uint32(written) && s[1] == binary.BigEndian.Uint32(written[4:])
}
