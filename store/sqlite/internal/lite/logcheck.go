package lite

import (
	"encoding/binary"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite/lib"
)

// The layout of a write-ahead log, as SQLite documents it: a header, and one before each page. Each ends with the sum of all
// that comes before it in the log.
const (
	logHeader   = 32
	frameHeader = 24
	summed      = 8 // bytes of a frame's header that the sum includes
)

// intact reports whether the log still has the pages that were committed to it, or need not: one that began anew meanwhile,
// whoever it was that did it, is a later one, and what was in it before is in the file. It reads all of them.
func (b *logBuffer) intact(tls *libc.TLS, frames int) bool {
	header := b.readLog(tls, logHeader, 0)
	if header == nil {
		return false
	}
	defer b.free(tls, header)
	var words binary.ByteOrder = binary.LittleEndian
	if binary.BigEndian.Uint32(header)&1 == 1 {
		words = binary.BigEndian
	}
	sum := logSum{}.add(words, header[:logHeader-8])
	if !sum.is(header[logHeader-8:]) {
		return false
	}
	salts := saltsOf(header[16:])
	if b.wrote.end == 0 {
		return true // nothing was
	}
	if salts != b.wrote.salts {
		return int32(salts[0]-b.wrote.salts[0]) > 0
	}
	size := frameHeader + int(binary.BigEndian.Uint32(header[8:]))
	for i := range frames {
		frame := b.readLog(tls, size, logHeader+int64(i)*int64(size))
		if frame == nil {
			return false
		}
		sum = sum.add(words, frame[:summed]).add(words, frame[frameHeader:])
		ok := saltsOf(frame[summed:]) == salts && sum.is(frame[summed+8:])
		b.free(tls, frame)
		if !ok {
			return false
		}
	}
	return true
}

// saltsOf reads what tells a log from those before it. The first of the two numbers counts them.
func saltsOf(header []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[4:])}
}

// readLog reads a piece of the file, nil if it cannot be read. It is the caller's to free.
func (b *logBuffer) readLog(tls *libc.TLS, n int, at int64) []byte {
	p := sqlite3.Xsqlite3_malloc64(tls, uint64(n))
	if p == 0 {
		return nil
	}
	piece := unsafe.Slice((*byte)(pointer(p)), n)
	rc := call[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](b.original.FxRead)(tls, b.file, p, int32(n), at)
	if rc != sqlite3.SQLITE_OK {
		b.free(tls, piece)
		return nil
	}
	return piece
}

func (b *logBuffer) free(tls *libc.TLS, piece []byte) {
	sqlite3.Xsqlite3_free(tls, uintptr(unsafe.Pointer(unsafe.SliceData(piece))))
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
