package compress

import (
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// persons are the words for whoever the agent talks with.
var persons = []string{"user", "human"}

// acts are what a summary may not say that the user does, for only the user can: what follows a person
// here makes it the subject of a sentence.
var acts = words(`accepted accepts added adds agreed agrees allowed allows also always announced answered answers approved approves are asked
	asking asks authorised authorized became began believed believes can cannot changed chose clarified commanded complained concluded
	confirmed confirms could decided decides demanded demands denied described did directed disagreed does doesn't didn't emphasised
	emphasized enquired expected expects explained explains expressed feels felt found gave gives granted had has hates hated have hopes
	hoped indicated indicates informed initially inquired insisted insists instructed instructs intends intended is isn't keeps
	knows liked likes loves made may mentioned mentions might must needed needs never noted notes now offered opted orders ordered
	permitted plans planned pointed preferred prefers proposed provided provides reported reports requested requests required requires
	reiterated rejected replied responded said says seeks selected sent shared should showed specified specifies started stated states
	stressed suggested suggests supplied then thinks thought told tells tried understood urged uses used wanted wanting wants warned
	was were will wished wishes would wrote`)

// possessions are what of the user's a summary may not speak of: the same claim as a noun.
var possessions = words(`answer answers approval command commands complaint confirmation consent constraint constraints decision decisions demand demands
	feedback goal goals input instruction instructions intent intention intentions message messages need needs objective order orders
	permission preference preferences priority question questions reply request requests requirement requirements response rule rules
	suggestion task wish wishes words`)

// claims begin a sentence that tells the user what they said or want.
var claims = words(`asked told want wanted said requested instructed prefer preferred decided approved confirmed agreed demanded insisted ordered wished`)

// abroad says the same in other languages.
var abroad = []string{
	"用户想", "用户要", "用户说", "用户希望", "用户需要", "用户请求", "用户同意", "用户决定", "用戶想", "用戶要", "用戶說", "用戶希望", "ユーザーは", "ユーザーが", "사용자는", "사용자가",
	"nutzer will", "nutzer möchte", "nutzer hat", "nutzer wünscht", "nutzer sagt", "nutzerin will", "nutzerin möchte", "nutzerin hat",
	"usuario quiere", "usuario pidió", "usuario ha ", "usuario dijo", "usuário quer", "usuário pediu", "utilisateur veut", "utilisateur a ", "utilisateur souhaite",
	"utente vuole", "utente ha ", "пользователь хочет", "пользователь просит", "пользователь попросил", "пользователь сказал",
}

// nouns may be things of users in general, as in "how user requests are routed", unless an article says
// that it is this user who does it.
var (
	nouns    = words(`answers demands likes needs notes orders plans reports requests states uses`)
	articles = []string{"the", "this", "our", "and"}
)

func words(list string) []string {
	all := strings.Fields(list)
	slices.Sort(all)
	return all
}

// among reports whether a sorted list has the word.
func among(list []string, word string) bool {
	_, found := slices.BinarySearch(list, word)
	return found
}

// attributes reports whether a sentence says something of the user: with the user as its subject, or
// as a request, an instruction or the like of theirs.
func attributes(sentence string) bool {
	low := plain(sentence)
	if hasAny(low, abroad) {
		return true
	}
	if !strings.Contains(low, "user") && !strings.Contains(low, "human") && !strings.Contains(low, "you") {
		return false
	}
	fields := clauses(low)
	at := func(i int) string {
		if i < len(fields) {
			return fields[i]
		}
		return ""
	}
	for i := range fields {
		word := at(i)
		name, possessive := strings.CutSuffix(word, "'s")
		switch next := at(i + 1); {
		case word == "you" && among(claims, next):
			return true
		case !slices.Contains(persons, name):
		case possessive && (among(possessions, next) || among(possessions, at(i+2)) || among(acts, next)):
			return true
		case possessive:
		case among(nouns, next) && i > 0 && !slices.Contains(articles, at(i-1)):
		case among(acts, next) || strings.HasSuffix(next, "ly") && among(acts, at(i+2)):
			return true
		case i > 1 && at(i-1) == "the" && at(i-2) == "by":
			return true
		case i > 2 && at(i-1) == "the" && at(i-2) == "to" && at(i-3) == "according":
			return true
		}
	}
	return false
}

// clauses returns the words of a sentence without the punctuation around them, and an empty one where
// punctuation parts them.
func clauses(low string) []string {
	var fields []string
	for word := range strings.FieldsSeq(low) {
		bare := strings.Trim(word, ".,;:!?*_`\"'()[]{}<>|…-–—")
		fields = append(fields, bare)
		if len(bare) < len(word) && strings.ContainsAny(word[len(word)-1:], ".,;:!?)]") {
			fields = append(fields, "")
		}
	}
	return fields
}

// spoken returns what a line says after the name of the user as its speaker, as in "User: …" or
// "[12] **user** (turn 3): …".
func spoken(line string) (string, bool) {
	line = bare(line)
	if handle, rest, ok := strings.Cut(line, "]"); ok && len(handle) < 24 {
		line = bare(rest)
	}
	head, rest, ok := strings.Cut(line, ":")
	if !ok || len(head) > 48 {
		return "", false
	}
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(head)), " ")
	if slices.Contains(persons, strings.Trim(first, "*_`\"'()[]<>|")) {
		return rest, true
	}
	return "", false
}

// invented returns the sentences of a summary that say of the user what they did not say themselves,
// word for word: a part of what they said may say the contrary.
func invented(summary string, said map[string]bool) []string {
	var found []string
	verbatim := func(sentence string) bool { return said[saying(sentence)] }
	for line := range strings.SplitSeq(summary, "\n") {
		line = unlabelled(line)
		if rest, ok := spoken(line); ok {
			if strings.TrimSpace(rest) == "" {
				found = append(found, strings.TrimSpace(line))
				continue
			}
			eachSentence(rest, func(sentence string) {
				if !verbatim(sentence) {
					found = append(found, sentence)
				}
			})
			continue
		}
		eachSentence(line, func(sentence string) {
			if attributes(sentence) && !verbatim(sentence) {
				found = append(found, sentence)
			}
		})
	}
	return found
}

// saying is a sentence as [invented] compares it.
func saying(sentence string) string { return strings.Trim(plain(bare(sentence)), ` "'.!`) }

// sayings are the sentences of the user.
func sayings(turns []turn.Turn) map[string]bool {
	all := map[string]bool{}
	for i := range turns {
		if t := &turns[i]; t.Role == turn.User && counts(t) {
			eachSentence(t.Content.Searchable(), func(sentence string) {
				if s := saying(sentence); s != "" {
					all[s] = true
				}
			})
		}
	}
	return all
}
