package extract

import (
	"strings"
	"sync"
)

// class is what a word does in a sentence, as far as a summary cares. The lists are of closed
// classes of English, which every conversation shares; a word of another language is content.
type class uint8

const (
	content  class = iota
	function       // carries no topic and stays: with, not, because
	article        // left out everywhere: the, really, hello
	opening        // left out where it begins a clause: it's, well
	first          // left out there too, and speaks of the speaker: I, I'm
	own            // stays and speaks of the speaker: my, we
	other          // speaks of the listener: you, your
	cheer          // praise, thanks and moods, which are said of everything
	moment         // yesterday, week, ago
	number         // three, twice
	decision       // decided, agreed, must
	trouble        // error, failed
)

var lexicon = sync.OnceValue(func() map[string]class {
	m := make(map[string]class, 512)
	for _, list := range []struct {
		class class
		words string
	}{
		{function, `about above after against all am any are aren't as at be because been before being
			below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't
			down during each for from further had hadn't has hasn't have haven't having he he'd he'll he's
			her hers herself him himself his i'd i'll if in into is isn't its itself me more most mustn't
			myself no none nor not of off on once one ones only or other others ourselves out over own same
			shall shan't she she'd she'll she's should shouldn't since some such than their theirs them
			themselves these they they'd they'll they're they've those though although through to too under
			until up us was wasn't were weren't what what's when where where's whether which while who who's
			whom whose why how how's will with without won't would wouldn't may might maybe yes near among around across
			along behind beside inside outside toward towards upon within unless yet per via there here
			got get gets getting go goes going gonna wanna gotta let let's lot lots bit kind sort thing things
			stuff someone something anything everything nothing anyone everyone always ever
			make makes made take takes give gave put say says said tell told come came know knew think
			thought guess mean want wanted like see seen saw look looks looking feel feels felt sure`},
		{article, `a an the very just really actually basically totally definitely truly super pretty quite
			simply literally honestly even oh ah uh um hmm hey hi hello wow yeah yep yup okay ok haha lol btw
			please`},
		{opening, `it it's that that's there's here's this so and well also then`},
		{first, `i i'm i've`},
		{own, `my mine we we're we've we'll we'd our ours`},
		{other, `you you're you've you'd you'll your yours yourself yourselves`},
		{cheer, `thanks thank awesome amazing great cool nice good glad happy excited exciting incredible
			wonderful fantastic love loved lovely best better fun sounds sound congrats congratulations
			welcome wish hope hoping inspiring proud impressive impressed beautiful perfect stoked thrilled
			grateful thankful appreciate bye goodbye sorry special`},
		{moment, `today yesterday tomorrow tonight morning afternoon evening night day days week weeks
			weekend weekends month months year years ago last next monday tuesday wednesday thursday friday
			saturday sunday january february march april june july august september october november december
			summer winter spring autumn fall recently soon later earlier now hour hours minute minutes daily
			weekly monthly deadline`},
		{number, `two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred
			thousand million first second third fourth fifth twice half dozen couple several`},
		{decision, `decide decided decision decisions agree agreed chose chosen choose settled approved rejected
			must never instead conclusion concluded resolved requirement required`},
		{trouble, `error errors fail failed fails failing failure exception panic crash crashed crashes denied
			refused fatal broken bug timeout`},
	} {
		for w := range strings.FieldsSeq(list.words) {
			m[w] = list.class
		}
	}
	return m
})

// topical reports whether words of the class say what is spoken of.
func (c class) topical() bool {
	switch c {
	case content, cheer, moment, number, decision, trouble:
		return true
	}
	return false
}
