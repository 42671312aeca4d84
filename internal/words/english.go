package words

// stem reduces an English word to its stem. Anything but a run of ASCII letters
// is returned as it is, and so is what may have been cut: it was no English.
func stem(word string) string {
	if len(word) < 3 || len(word) >= maxTerm {
		return word
	}
	for i := 0; i < len(word); i++ {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return english(word)
}

// english reduces a word of small ASCII letters, at least three and less than maxTerm of them, to its
// stem by the Snowball project's English rules (Porter2). The stem is a part of the word wherever it
// can be.
//
// HAZARD: stems stand in every index that was ever filled. A test holds them against another
// implementation of the same rules; a rule that changes makes what is stored unfindable.
func english(word string) string {
	if stem, ok := irregular(word); ok {
		return stem
	}
	var w stemming
	w.n = copy(w.letters[:], word)
	w.regions()
	w.plural()
	w.past()
	w.lastY()
	w.derived()
	w.adjective()
	w.residue()
	w.lastE()
	for i, c := range w.letters[:w.n] {
		if c == 'Y' {
			w.letters[i] = 'y'
		}
	}
	if w.n <= len(word) && string(w.letters[:w.n]) == word[:w.n] {
		return word[:w.n]
	}
	return string(w.letters[:w.n])
}

// stemming is a word on its way to its stem. A y that is a consonant is written as Y meanwhile.
type stemming struct {
	letters [maxTerm]byte
	n       int
	r1, r2  int // where the regions begin that endings must lie in
}

func vowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

// regions marks the consonants among the ys and finds the regions. Each begins behind the first consonant
// after a vowel: the first of the word, the second of the first region.
func (w *stemming) regions() {
	for i := range w.n {
		if w.letters[i] == 'y' && (i == 0 || vowel(w.letters[i-1])) {
			w.letters[i] = 'Y'
		}
	}
	switch word := string(w.letters[:min(w.n, 6)]); {
	case len(word) >= 5 && (word[:5] == "gener" || word[:5] == "arsen"):
		w.r1 = 5
	case word == "commun":
		w.r1 = 6
	default:
		w.r1 = w.behindConsonant(0)
	}
	w.r2 = w.behindConsonant(w.r1)
}

func (w *stemming) behindConsonant(start int) int {
	for i := start + 1; i < w.n; i++ {
		if vowel(w.letters[i-1]) && !vowel(w.letters[i]) {
			return i + 1
		}
	}
	return w.n
}

// ends reports whether the word has the ending.
func (w *stemming) ends(ending string) bool {
	return w.n >= len(ending) && string(w.letters[w.n-len(ending):w.n]) == ending
}

// replace puts other letters in the place of the last n.
func (w *stemming) replace(n int, letters string) {
	w.n = w.n - n + copy(w.letters[w.n-n:], letters)
	w.r1, w.r2 = min(w.r1, w.n), min(w.r2, w.n)
}

// replaceInFirst does so where the last n lie in the first region.
func (w *stemming) replaceInFirst(n int, letters string) {
	if n <= w.n-w.r1 {
		w.replace(n, letters)
	}
}

// anyVowel reports whether one of the first n letters is a vowel.
func (w *stemming) anyVowel(n int) bool {
	for i := 0; i < n; i++ {
		if vowel(w.letters[i]) {
			return true
		}
	}
	return false
}

// shortSyllable reports whether the first n letters end in a short syllable: a vowel between two
// consonants, of which the last is no w, x or Y, or a vowel and a consonant that are all there is.
func (w *stemming) shortSyllable(n int) bool {
	switch {
	case n < 2:
		return false
	case n == 2:
		return vowel(w.letters[0]) && !vowel(w.letters[1])
	}
	last := w.letters[n-1]
	return !vowel(last) && last != 'w' && last != 'x' && last != 'Y' && vowel(w.letters[n-2]) && !vowel(w.letters[n-3])
}

// plural is step 1a.
func (w *stemming) plural() {
	switch {
	case w.ends("sses"):
		w.replace(4, "ss")
	case w.ends("ied"), w.ends("ies"):
		if w.n > 4 {
			w.replace(3, "i")
		} else {
			w.replace(3, "ie")
		}
	case w.ends("us"), w.ends("ss"):
	case w.ends("s"):
		if w.anyVowel(w.n - 2) {
			w.replace(1, "")
		}
	}
}

// past is step 1b.
func (w *stemming) past() {
	ending := 0
	switch {
	case w.ends("eedly"):
		w.replaceInFirst(5, "ee")
	case w.ends("ingly"):
		ending = 5
	case w.ends("edly"):
		ending = 4
	case w.ends("ing"):
		ending = 3
	case w.ends("eed"):
		w.replaceInFirst(3, "ee")
	case w.ends("ed"):
		ending = 2
	}
	if ending == 0 || !w.anyVowel(w.n-ending) {
		return
	}
	r1, r2 := w.r1, w.r2
	w.replace(ending, "")
	switch {
	case w.ends("at"), w.ends("bl"), w.ends("iz"):
		w.replace(0, "e")
	case w.doubled():
		w.replace(1, "")
	case w.r1 == w.n && w.shortSyllable(w.n):
		w.replace(0, "e")
		w.r1, w.r2 = w.n, w.n
		return
	}
	w.r1, w.r2 = min(r1, w.n), min(r2, w.n)
}

// doubled reports whether the word ends in a consonant that is doubled before endings.
func (w *stemming) doubled() bool {
	if w.n < 2 || w.letters[w.n-1] != w.letters[w.n-2] {
		return false
	}
	switch w.letters[w.n-1] {
	case 'b', 'd', 'f', 'g', 'm', 'n', 'p', 'r', 't':
		return true
	}
	return false
}

// lastY is step 1c.
func (w *stemming) lastY() {
	if w.n > 2 && w.letters[w.n-1]|0x20 == 'y' && !vowel(w.letters[w.n-2]) {
		w.letters[w.n-1] = 'i'
	}
}

// ending is what an ending becomes.
type ending struct{ letters, becomes string }

// endings are those of a step by their last letter, longer ones first.
type endings [32][]ending

func byLastLetter(all ...ending) (table endings) {
	for _, e := range all {
		last := e.letters[len(e.letters)-1] & 31
		table[last] = append(table[last], e)
	}
	return table
}

// of returns the first ending of the table that the word has, nil where it has none.
func (table *endings) of(w *stemming) *ending {
	found := table[w.letters[w.n-1]&31]
	for i := range found {
		if w.ends(found[i].letters) {
			return &found[i]
		}
	}
	return nil
}

var derivedEndings = byLastLetter([]ending{
	{"ational", "ate"}, {"fulness", "ful"}, {"iveness", "ive"}, {"ization", "ize"}, {"ousness", "ous"},
	{"biliti", "ble"}, {"lessli", "less"}, {"tional", "tion"}, {"alism", "al"}, {"aliti", "al"}, {"ation", "ate"},
	{"entli", "ent"}, {"fulli", "ful"}, {"iviti", "ive"}, {"ousli", "ous"}, {"anci", "ance"}, {"abli", "able"},
	{"alli", "al"}, {"ator", "ate"}, {"enci", "ence"}, {"izer", "ize"}, {"bli", "ble"}, {"ogi", "og"}, {"li", ""},
}...)

// derived is step 2.
func (w *stemming) derived() {
	e := derivedEndings.of(w)
	if e == nil {
		return
	}
	switch e.letters {
	case "li":
		if w.n < 3 {
			return
		}
		switch w.letters[w.n-3] {
		case 'c', 'd', 'e', 'g', 'h', 'k', 'm', 'n', 'r', 't':
		default:
			return
		}
	case "ogi":
		if w.n < 4 || w.letters[w.n-4] != 'l' {
			return
		}
	}
	w.replaceInFirst(len(e.letters), e.becomes)
}

var adjectiveEndings = byLastLetter([]ending{
	{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"ative", ""}, {"iciti", "ic"},
	{"ical", "ic"}, {"ful", ""}, {"ness", ""},
}...)

// adjective is step 3.
func (w *stemming) adjective() {
	e := adjectiveEndings.of(w)
	if e == nil || e.letters == "ative" && len(e.letters) > w.n-w.r2 {
		return
	}
	w.replaceInFirst(len(e.letters), e.becomes)
}

var residueEndings = byLastLetter([]ending{
	{"ement", ""}, {"ance", ""}, {"ence", ""}, {"able", ""}, {"ible", ""}, {"ment", ""}, {"ent", ""}, {"ant", ""},
	{"ism", ""}, {"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""}, {"ize", ""}, {"ion", ""}, {"al", ""}, {"er", ""}, {"ic", ""},
}...)

// residue is step 4.
func (w *stemming) residue() {
	e := residueEndings.of(w)
	if e == nil || len(e.letters) > w.n-w.r2 {
		return
	}
	if e.letters == "ion" && (w.n < 4 || w.letters[w.n-4] != 's' && w.letters[w.n-4] != 't') {
		return
	}
	w.replace(len(e.letters), "")
}

// lastE is step 5.
func (w *stemming) lastE() {
	last := w.n - 1
	if w.r1 > last {
		return
	}
	switch w.letters[last] {
	case 'e':
		if w.r2 <= last || !w.shortSyllable(last) {
			w.replace(1, "")
		}
	case 'l':
		if w.r2 <= last && last >= 1 && w.letters[last-1] == 'l' {
			w.replace(1, "")
		}
	}
}

// irregular returns the stem of a word that follows no rule.
func irregular(word string) (stem string, ok bool) {
	switch word {
	case "skis":
		return "ski", true
	case "skies", "sky":
		return "sky", true
	case "dying":
		return "die", true
	case "lying":
		return "lie", true
	case "tying":
		return "tie", true
	case "idly":
		return "idl", true
	case "gently":
		return "gentl", true
	case "ugly":
		return "ugli", true
	case "early":
		return "earli", true
	case "only":
		return "onli", true
	case "singly":
		return "singl", true
	case "news", "howe", "atlas", "cosmos", "bias", "andes":
		return word, true
	case "inning", "innings":
		return "inning", true
	case "outing", "outings":
		return "outing", true
	case "canning", "cannings":
		return "canning", true
	case "herring", "herrings":
		return "herring", true
	case "earring", "earrings":
		return "earring", true
	case "proceed", "proceeds", "proceeded", "proceeding":
		return "proceed", true
	case "exceed", "exceeds", "exceeded", "exceeding":
		return "exceed", true
	case "succeed", "succeeds", "succeeded", "succeeding":
		return "succeed", true
	}
	return "", false
}
