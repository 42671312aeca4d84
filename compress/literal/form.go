package literal

import "strings"

// form is what the bytes of a word are, counted once.
type form struct {
	lower, upper, digits, other int // letters outside of ASCII are other
	humps                       int // a capital after a small letter
	marks                       [128]uint8
}

func formOf(word string) form {
	var f form
	for i := 0; i < len(word); i++ {
		switch b := word[i]; {
		case 'a' <= b && b <= 'z':
			f.lower++
		case 'A' <= b && b <= 'Z':
			f.upper++
			if i > 0 && 'a' <= word[i-1] && word[i-1] <= 'z' {
				f.humps++
			}
		case '0' <= b && b <= '9':
			f.digits++
		case b < 128:
			if f.marks[b] < 255 {
				f.marks[b]++
			}
		default:
			f.other++
		}
	}
	return f
}

// longest is the length in bytes from which a word is data and no literal.
const longest = 512

// Of returns the kind of one word, without the punctuation around it; None for an
// ordinary word. It takes time linear in the length of word. Safe for concurrent use.
func Of(word string) Kind {
	if word == "" || len(word) > longest || ordinary(word) {
		return None
	}
	f := formOf(word)
	letters := f.lower + f.upper
	if letters+f.digits == 0 {
		return None
	}
	switch {
	case strings.Contains(word, "://") || strings.HasPrefix(word, "www.") || mail(word, f):
		return Address
	case f.digits > 0 && quantity(word, f):
		return Number
	case f.digits > 0 && moment(word, f):
		return Date
	case f.digits > 0 && version(word):
		return Version
	case path(word, f):
		return Path
	case f.other > 0:
		return None
	case errorName(word, f):
		return Error
	case f.digits > 0 && letters > 0 && !ordinal(word, f):
		return ID
	case word[0] == '#' && f.digits > 0:
		return ID
	case identifier(word, f):
		return Identifier
	case f.digits > 0:
		return Number
	}
	return None
}

// ordinary reports whether a word is small letters, the first perhaps a capital: most words are, and
// are no literals.
func ordinary(word string) bool {
	for i := 1; i < len(word); i++ {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return 'a' <= word[0]|0x20 && word[0]|0x20 <= 'z'
}

func mail(word string, f form) bool {
	at := strings.IndexByte(word, '@')
	return f.marks['@'] == 1 && at > 0 && strings.IndexByte(word[at:], '.') > 1
}

// quantity reports whether the word is a number with its sign, currency or unit.
func quantity(word string, f form) bool {
	if f.lower+f.upper > 0 && !(f.lower+f.upper == 1 && strings.IndexByte("kKmMbBxX", word[len(word)-1]) >= 0) {
		return false
	}
	if f.marks['-'] > 1 || f.marks['-'] == 1 && word[0] != '-' {
		return false
	}
	for _, b := range []byte(word) {
		if b < 128 && !letterOrDigit(b) && strings.IndexByte("+-.,%$~", b) < 0 {
			return false
		}
	}
	return f.marks['.'] <= 1
}

// moment reports whether the word is a date, a time of day or both.
func moment(word string, f form) bool {
	if f.other > 0 {
		return false
	}
	separators := int(f.marks['-']) + int(f.marks[':']) + int(f.marks['/'])
	switch f.lower + f.upper {
	case 0, 1: // 2024-05-23T06:33, 14:30Z
		return separators >= 1 && f.digits >= 3 && '0' <= word[0] && word[0] <= '9' && f.marks['_'] == 0 &&
			(f.lower+f.upper == 0 || strings.ContainsAny(word, "TZ")) && (f.marks['/'] == 0 || f.marks['/'] == 2)
	case 2:
		if f.marks['-'] == 2 && f.marks[':'] >= 1 && strings.ContainsRune(word, 'T') && strings.HasSuffix(word, "Z") {
			return true
		}
		half := strings.ToLower(word[len(word)-2:])
		return (half == "am" || half == "pm") && f.digits <= 4 && len(word) == f.digits+2+int(f.marks[':'])
	}
	return false
}

// version reports whether the word is two numbers or more joined by dots, with what may follow.
func version(word string) bool {
	word = strings.TrimPrefix(word, "v")
	dots, digits := 0, 0
	for i := 0; i < len(word); i++ {
		switch b := word[i]; {
		case '0' <= b && b <= '9':
			digits++
		case b == '.' && digits > 0:
			dots++
			digits = 0
		default:
			return (b == '-' || b == '+') && dots >= 2 && digits > 0
		}
	}
	return dots >= 1 && digits > 0
}

// path reports whether the word names a file or a folder.
func path(word string, f form) bool {
	letters := f.lower + f.upper + f.other
	if f.marks['\\'] > 0 {
		return letters > 0 && (f.marks[':'] > 0 || f.marks['\\'] > 1)
	}
	if slashes := int(f.marks['/']); slashes > 0 {
		if word[0] == '/' || word[0] == '.' || word[0] == '~' {
			return letters > 0
		}
		return letters > slashes && (slashes > 1 || extension(word) || f.marks['_'] > 0)
	}
	return letters > 0 && f.other == 0 && extension(word)
}

// extension reports whether the word ends in a file's extension, perhaps with a line number.
func extension(word string) bool {
	if colon := strings.IndexByte(word, ':'); colon > 0 {
		word = word[:colon]
	}
	dot := strings.LastIndexByte(word, '.')
	if dot <= 0 || len(word)-dot < 2 || len(word)-dot > 6 || len(word) < 4 { // not e.g.
		return false
	}
	for _, b := range []byte(word[dot+1:]) {
		if !('a' <= b && b <= 'z' || '0' <= b && b <= '9') {
			return false
		}
	}
	return letterOrDigit(word[dot-1]) && 'a' <= word[dot+1] && word[dot+1] <= 'z'
}

// errorName reports whether the word is the name of an error: TypeError, ErrNotFound, ENOENT.
func errorName(word string, f form) bool {
	if f.upper < 2 {
		return false
	}
	return strings.HasSuffix(word, "Error") || strings.HasSuffix(word, "Exception") ||
		len(word) > 3 && strings.HasPrefix(word, "Err") && 'A' <= word[3] && word[3] <= 'Z' ||
		f.upper == len(word) && posix[word]
}

// posix are the names of errors that programs print. Their form is that of any word in capitals.
var posix = map[string]bool{
	"EACCES": true, "EADDRINUSE": true, "EAGAIN": true, "EBADF": true, "EBUSY": true, "ECONNABORTED": true,
	"ECONNREFUSED": true, "ECONNRESET": true, "EEXIST": true, "EHOSTUNREACH": true, "EINTR": true, "EINVAL": true,
	"EIO": true, "EISDIR": true, "ELOOP": true, "EMFILE": true, "ENETUNREACH": true, "ENOENT": true, "ENOMEM": true,
	"ENOSPC": true, "ENOTDIR": true, "ENOTEMPTY": true, "ENOTFOUND": true, "EPERM": true, "EPIPE": true,
	"EROFS": true, "ETIMEDOUT": true, "EXDEV": true, "ENOTSUP": true, "ECANCELED": true,
}

// ordinal reports whether the word is 1st, 22nd, 90s, 5km or the like: digits and then letters,
// which says less than digits among letters.
func ordinal(word string, f form) bool {
	if f.upper > 0 || f.lower > 3 || f.lower+f.digits != len(word) {
		return false
	}
	return strings.Trim(word[:f.digits], "0123456789") == ""
}

// identifier reports whether the word is a name in code.
func identifier(word string, f form) bool {
	letters := f.lower + f.upper
	switch {
	case letters < 2:
		return false
	case f.marks['_'] > 0 || strings.HasPrefix(word, "--"):
		return true
	case f.humps > 0 && f.marks['-'] == 0 && f.marks['\''] == 0:
		return true
	}
	dot := strings.IndexByte(word, '.')
	return dot > 0 && dot < len(word)-1 && 'A' <= word[dot+1] && word[dot+1] <= 'Z' && 'a' <= word[0] && word[0] <= 'z'
}

func letterOrDigit(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}
