package recall

import (
	"strings"
	"sync"

	"github.com/turnstone-dev/turnstone/internal/words"
)

// stopped are words that say nothing about what is asked for.
var stopped = sync.OnceValue(func() map[string]bool {
	return termSet(`a about above after again against all also am an and any are aren't as at be because been
	before being below between both but by can can't cannot could couldn't did didn't do does doesn't doing
	don't down during each few for from further had hadn't has hasn't have haven't having he he'd he'll he's her
	here here's hers herself him himself his how how's i i'd i'll i'm i've if in into is isn't it it's its
	itself just let's may me might more most must mustn't my myself no nor not of off on once only or other ought our ours
	ourselves out over own same shall shan't she she'd she'll she's should shouldn't so some such than that that's
	the their theirs them themselves then there there's these they they'd they'll they're they've this those
	through to too under until up very was wasn't we we'd we'll we're we've were weren't what what's when when's
	where where's which while who who's whom why why's will with won't would wouldn't you you'd you'll you're
	you've your yours yourself yourselves`)
})

// families are words that mean the same to who searches: irregular forms, numbers, and a few pairs that
// people use for each other. A line is a family.
const families = `go goes went gone
buy bought
see saw seen
take took taken
give gave given
get got gotten
make made
say said
tell told
think thought
feel felt
find found
lose lost
leave left
meet met
run ran
begin began begun start
write wrote written
speak spoke spoken
break broke broken
choose chose chosen
drive drove driven
eat ate eaten
fall fell fallen
fly flew flown
forget forgot forgotten
grow grew grown
hear heard
hold held
keep kept
know knew known
pay paid
ride rode ridden
sell sold
send sent
sing sang sung
sit sat
sleep slept
spend spent
stand stood
swim swam swum
teach taught
understand understood
wear wore worn
win won
bring brought
build built
catch caught
come came
draw drew drawn
drink drank drunk
fight fought
become became
lead led
mean meant
show shown
steal stole stolen
throw threw thrown
wake woke woken
bite bit bitten
blow blew blown
feed fed
freeze froze frozen
hide hid hidden
lend lent
rise rose risen
shake shook shaken
shoot shot
sink sank sunk
stick stuck
sweep swept
tear tore torn
weep wept
child children kid
man men
woman women
person people
foot feet
tooth teeth
mouse mice
good better best
bad worse worst
mother mom mum
father dad
photo picture pic image
movie film
one 1 first
two 2 second twice
three 3 third
four 4 fourth
five 5 fifth
six 6 sixth
seven 7 seventh
eight 8 eighth
nine 9 ninth
ten 10 tenth
eleven 11
twelve 12
january jan
february feb
april apr
august aug
september sept
october oct
november nov
december dec`

// relatives are the other words of a term's family.
var relatives = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	for line := range strings.Lines(families) {
		family := words.Terms(line)
		for i, term := range family {
			for j, other := range family {
				if i != j && term != other {
					all[term] = append(all[term], other)
				}
			}
		}
	}
	return all
})

// timely are the words by which people say when something was.
var timely = sync.OnceValue(func() map[string]bool {
	return termSet(`yesterday today tomorrow tonight week weekend month year day ago last next recently monday tuesday
	wednesday thursday friday saturday sunday january february march april may june july august september october
	november december morning evening afternoon night since summer winter spring fall autumn`)
})

func termSet(text string) map[string]bool {
	set := make(map[string]bool)
	for _, term := range words.Terms(text) {
		set[term] = true
	}
	return set
}
