package bpe

import (
	"sync"
	"unicode/utf8"
)

// Encoding turns text into the tokens of one vocabulary. It is safe for concurrent use. Special
// tokens such as <|endoftext|> are read as the plain text that they are; the begin and end of a
// message are the caller's to count.
type Encoding struct {
	// split returns the length of the first piece of a text that is not empty.
	split  func(text string) int
	whole  *words   // tokens that may stand for a whole piece
	pairs  *pairs   // which neighbours join, and in which order
	ranks  int      // how many of them there are
	merged []uint32 // the token that each rank makes; nil if they follow the bytes in order
	bytes  [256]uint32

	// What follows is for local models only.
	joined      *pairs // the token that a pair makes, where one rank makes several
	runes       *words // symbols to begin with are characters, bytes where they are not here
	spacePrefix bool
	added       *added // whole words that are found before anything is split

	scratch sync.Pool // of *merger
	known   counts
}

// Count returns the number of tokens of the text. It allocates nothing unless the text is not
// valid UTF-8 or has a piece of more than 64 bytes, and little for those.
func (e *Encoding) Count(text string) int {
	n, _ := e.encode(nil, text, false)
	return n
}

// Append appends the tokens of the text to dst and returns the longer slice.
func (e *Encoding) Append(dst []uint32, text string) []uint32 {
	_, dst = e.encode(dst, text, true)
	return dst
}

// encode counts the tokens and appends them to dst if they are to be kept.
func (e *Encoding) encode(dst []uint32, text string, keep bool) (int, []uint32) {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	if e.runes != nil {
		text = spaces(text)
	}
	if e.added == nil {
		return e.fragment(dst, text, keep)
	}
	n := 0
	for text != "" {
		at, length, id := e.added.next(text)
		m, longer := e.fragment(dst, text[:at], keep)
		n, dst = n+m, longer
		if length > 0 {
			n++
			if keep {
				dst = append(dst, id)
			}
		}
		text = text[at+length:]
	}
	return n, dst
}

// fragment encodes text without added tokens.
func (e *Encoding) fragment(dst []uint32, text string, keep bool) (n int, _ []uint32) {
	var buffer [short]uint32
	prefix := e.spacePrefix
	for text != "" {
		size := e.split(text)
		piece := text[:size]
		text = text[size:]
		if prefix {
			piece, prefix = " "+piece, false
		}
		if id, ok := e.whole.find(piece); ok {
			n++
			if keep {
				dst = append(dst, id)
			}
			continue
		}
		if len(piece) <= short {
			ids := e.mergeShort(e.symbols(buffer[:0], piece))
			n += len(ids)
			if keep {
				dst = append(dst, ids...)
			}
			continue
		}
		m := e.merger()
		ids := m.merge(e, e.symbols(m.symbols[:0], piece))
		n += len(ids)
		if keep {
			dst = append(dst, ids...)
		}
		e.scratch.Put(m)
	}
	return n, dst
}

// symbols appends what the piece consists of before anything is joined.
func (e *Encoding) symbols(dst []uint32, piece string) []uint32 {
	if e.runes == nil {
		for i := range len(piece) {
			dst = append(dst, e.bytes[piece[i]])
		}
		return dst
	}
	for piece != "" {
		_, size := utf8.DecodeRuneInString(piece)
		if id, ok := e.runes.find(piece[:size]); ok {
			dst = append(dst, id)
		} else {
			for i := range size {
				dst = append(dst, e.bytes[piece[i]])
			}
		}
		piece = piece[size:]
	}
	return dst
}

func (e *Encoding) merger() *merger {
	if m, ok := e.scratch.Get().(*merger); ok {
		return m
	}
	return newMerger(e.ranks)
}

// join returns the token that two neighbours of a rank make.
func (e *Encoding) join(left, right, rank uint32) uint32 {
	switch {
	case e.merged != nil:
		return e.merged[rank]
	case e.joined != nil:
		return e.joined.rank(left, right)
	}
	return 256 + rank
}
