package prompt

// MostShare is how much of the threshold an epoch begins with at most, and MaxPass how many turns a pass looks
// through.
const (
	MostShare = mostShare
	MaxPass   = maxPass
)
