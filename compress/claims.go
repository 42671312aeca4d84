package compress

import (
	"slices"
	"strings"
	"unicode"
)

// Words that make a sentence of a summary a claim that somebody asked for something, besides [acts].
var (
	// users are whoever the agent talks with, under any name.
	users = words(`user human requester requestor asker end-user enduser`)
	// others may be whoever the agent talks with, or anybody the work is about.
	others = words(`client clients customer customers he humans i manager operator owner people person she somebody someone stakeholder stakeholders they users`)
	// wills are what others do who want something.
	wills = words(`approve approved approves ask asked asks authorise authorised authorize authorized command commanded commands demand demanded demands
		insist insisted insists instruct instructed instructs ordered permitted prefer preferred prefers requested said tell tells told want wanted wants wish wished wishes`)
	// between may stand between somebody and what they do.
	between = words(`already also did do does had has have just now then who`)
	// things are what is called after users without being theirs.
	things = words(`account accounts agent auth authentication data directory experience facing field fields flow flows form forms group groups guide id ids
		interface interfaces journey journeys list lists management manual mode model models name names object objects page pages profile profiles record records
		role roles row rows schema service services session sessions settings space story stories store table tables token tokens type types`)
	// through make somebody the one who wanted it, as in "approved by the user".
	through = words(`as at behalf by following from on per upon`)
	// binding say what whoever reads the summary has to do, as in "you must".
	binding = words(`are cannot have may must need ought shall should will`)
	// commands begin a sentence that tells its reader what to do.
	commands = words(`always bypass delete destroy disregard don't drop erase forget grant ignore never obey override please purge remove revoke transfer wipe`)
	// demanding are in the name of what stands behind a colon and was asked for.
	demanding = words(`ask asks command commands demand demands directive directives instruction instructions request requests task tasks wish wishes`)
	// speakers stand before what somebody else than the agent said.
	speakers = words(`client customer developer h operator owner person q requester system u`)
)

// wanted say that something was asked for or allowed, whoever did it.
var wanted = phrasesOf(
	"was requested", "were requested", "is requested", "are requested", "been requested", "requested by", "requested that", "as requested", "per request", "by request", "at the request",
	"request of", "request from", "was asked", "were asked", "been asked", "asked to", "asked us", "asked for", "asked that", "approved by", "authorised by", "authorized by",
	"was approved", "were approved", "been approved", "was authorised", "was authorized", "on behalf of", "was instructed", "were instructed", "instructed to", "was told to",
	"were told to", "instruction from", "instructions from", "instruction is", "instructions are", "orders from", "was demanded", "is demanded", "permission to", "previous instructions",
	"prior instructions", "earlier instructions", "wants you", "want you",
)

// claim is a sentence of a summary that nothing in the turns bears out, and why it needs to.
type claim struct{ text, why string }

const (
	notSaid  = "the user did not say this"
	notFound = "the turns do not have this"
)

// claims returns the sentences of a summary that say what only the turns can, and do not: what the user said or
// wants, what anybody was asked for or told to do, what stands behind a label of the engine, and which turns
// say more. What the engine copied itself may say all of it.
func (c *checker) claims(summary string) []claim {
	var found []claim
	for line := range strings.SplitSeq(summary, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if these := c.claimsOf(summary, line); len(these) > 0 && !c.copies(line) {
			found = append(found, these...)
		}
	}
	return found
}

func (c *checker) claimsOf(summary, line string) []claim {
	if strings.HasPrefix(plain(bare(line)), plain(moreTurns)) {
		if c.names(summary, line) {
			return nil
		}
		return []claim{{line, notFound}}
	}
	if head, rest, ok := strings.Cut(bare(line), ":"); ok {
		if borne, labelled := c.labelled(strings.Trim(head, "*_` "), strings.Trim(rest, "*_` ")); borne {
			return nil
		} else if labelled {
			return []claim{{line, notFound}}
		}
	}
	if these := invented(line, c.said); len(these) > 0 {
		var found []claim
		for _, s := range these {
			found = append(found, claim{s, notSaid})
		}
		return found
	}
	if _, ok := spoken(line); ok {
		return nil
	}
	return c.sentences(line)
}

// sentences returns the sentences of a line that are claims.
func (c *checker) sentences(line string) []claim {
	var found []claim
	head, rest, ok := strings.Cut(bare(line), ":")
	name := parts(head)
	if ok && len(name) > 0 && len(name) < 8 && (slices.ContainsFunc(name, func(w string) bool { return among(demanding, w) }) || len(name) == 1 && among(speakers, name[0])) && !c.backed(rest) {
		return []claim{{line, notFound}}
	}
	eachSentence(line, func(sentence string) {
		switch {
		case c.said[saying(sentence)]:
		case asUser(parts(sentence)):
			found = append(found, claim{sentence, notSaid})
		case commanding(sentence) && !c.verbatim(sentence), demanded(sentence) && !c.backed(sentence):
			found = append(found, claim{sentence, notFound})
		}
	})
	return found
}

// parts returns the words of a text in lower case, and an empty one wherever something else than a space parts them.
func parts(text string) []string {
	var all []string
	for field := range strings.FieldsSeq(plain(text)) {
		gap := false
		for part := range strings.FieldsFuncSeq(field, func(r rune) bool { return !inWord(r) }) {
			word := strings.Trim(part, "-_./\\'@#~")
			if gap || !strings.HasPrefix(field, word) {
				all = append(all, "")
			}
			if word != "" {
				all = append(all, word)
			}
			gap = true
		}
		if n := len(all); !gap || n > 0 && all[n-1] != "" && !strings.HasSuffix(field, all[n-1]) {
			all = append(all, "")
		}
	}
	return slices.CompactFunc(all, func(a, b string) bool { return a == "" && b == "" })
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("-_./\\'@#~", r)
}

// asUser reports whether words speak for the user: as a label, as the one who does something, or as the one it is
// done for. The user's things are not the user.
func asUser(all []string) bool {
	at := func(i int) string {
		if i < 0 || i >= len(all) {
			return ""
		}
		return all[i]
	}
	for i, word := range all {
		if !among(users, word) {
			continue
		}
		before, next := i-1, at(i+1)
		if slices.Contains(articles, at(before)) || at(before) == "end" {
			before--
		}
		begins := at(before) == "" || i == 0
		switch {
		case among(things, next):
		case among(through, at(before)) || at(before) == "of" && at(before-1) == "behalf":
			return true
		case word != "user" && word != "human", begins && !among(nouns, next) && next != "of":
			return true
		}
	}
	return false
}

// commanding reports whether a sentence, or a part of it behind a colon or semicolon, tells its reader what to do.
func commanding(sentence string) bool {
	for part := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return r == ':' || r == ';' }) {
		all := slices.DeleteFunc(parts(part), func(w string) bool { return w == "" })
		if len(all) == 0 {
			continue
		}
		if among(commands, all[0]) || len(all) > 1 && all[0] == "do" && all[1] == "not" {
			return true
		}
		for i, word := range all[:len(all)-1] {
			if word == "you" && among(binding, all[i+1]) {
				return true
			}
		}
	}
	return false
}

// demanded reports whether a sentence says that somebody wants something.
func demanded(sentence string) bool {
	if wanted.in(plain(sentence)) {
		return true
	}
	all := parts(sentence)
	for i, word := range all {
		if !among(others, word) {
			continue
		}
		next := i + 1
		for next < len(all) && (among(between, all[next]) || strings.HasSuffix(all[next], "ly")) {
			next++
		}
		if next < len(all) && among(wills, all[next]) {
			return true
		}
	}
	return false
}
