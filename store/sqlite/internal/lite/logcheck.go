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

// logCheck follows a log from its beginning and finds out whether it is what its index was made for.
type logCheck struct {
	end   int64 // of what is in the log
	frame int   // bytes of one
	words binary.ByteOrder
	salts [2]uint32
	sum   logSum // so far
	want  logSum // at the end
	next  []byte // of the header or frame that is not complete yet
	begun bool   // the header is behind
}

func newLogCheck(index *sqlite3.TWalIndexHdr) *logCheck {
	l := &logCheck{
		frame: frameHeader + int(index.FszPage&0xfe00) + int(index.FszPage&1)<<16, words: binary.LittleEndian,
		salts: saltsOf(unsafe.Slice((*byte)(unsafe.Pointer(&index.FaSalt)), unsafe.Sizeof(index.FaSalt))), want: index.FaFrameCksum,
	}
	if index.FbigEndCksum != 0 {
		l.words = binary.BigEndian
	}
	if index.FmxFrame > 0 { // otherwise what was in it is in the file
		l.end = logHeader + int64(index.FmxFrame)*int64(l.frame)
	}
	return l
}

// follow takes in what comes next and reports whether it may be in the log.
func (l *logCheck) follow(data []byte) bool {
	for len(data) > 0 {
		size := l.frame
		if !l.begun {
			size = logHeader
		}
		n := min(len(data), size-len(l.next))
		l.next, data = append(l.next, data[:n]...), data[n:]
		if len(l.next) < size {
			return true
		}
		if !l.fits(l.next) {
			return false
		}
		l.next, l.begun = l.next[:0], true
	}
	return true
}

// fits reports whether a header or frame follows what came before.
func (l *logCheck) fits(part []byte) bool {
	if !l.begun {
		l.sum = l.sum.add(l.words, part[:logHeader-8])
		return saltsOf(part[16:]) == l.salts && l.sum.is(part[logHeader-8:])
	}
	l.sum = l.sum.add(l.words, part[:summed]).add(l.words, part[frameHeader:])
	return saltsOf(part[summed:]) == l.salts && l.sum.is(part[summed+8:])
}

// whole reports whether all of the log came: a commit that failed may have left others like its last frames, but not with
// this sum at the end.
func (l *logCheck) whole() bool { return l.end == 0 || len(l.next) == 0 && l.sum == l.want }

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
