package transcripts

// Stats is what transcripts went through.
type Stats struct {
	Transcripts int `json:"transcripts"`
	Turns       int `json:"turns"`
	Prompts     int `json:"prompts"`
	Epochs      int `json:"epochs"`  // opened
	Refused     int `json:"refused"` // prompts that could not fit
	Rebuilt     int `json:"rebuilt"` // prompts made again from the log
	// Passes took turns out of prompts, Tiers how many by the tier of the window, from the first on, and
	// Drafted how many were made ahead. Stood is how many summaries of passes were a summariser's, Fallbacks how
	// many it was asked for in vain.
	Passes    int    `json:"passes"`
	Tiers     [5]int `json:"tiers"`
	Drafted   int    `json:"drafted"`
	Stood     int    `json:"stood"`
	Fallbacks int    `json:"fallbacks"`
	// Forced were asked for, Useless were and would have made nothing smaller.
	Forced  int `json:"forced"`
	Useless int `json:"useless"`
	// Undone were undone, UndoneLater of them when others had followed.
	Undone      int `json:"undone"`
	UndoneLater int `json:"undoneLater"`
	Restored    int `json:"restored"`
	// Modes and Strategies are how many times the session got another one.
	Modes      int `json:"modes"`
	Strategies int `json:"strategies"`
	Unrestored int `json:"unrestored"` // restores that were undone
	// What was found in prompts: messages of the user that were shown after they had left the recent turns, those
	// that were only named, pins outside of the recent turns, what was quoted of others and what was only named, milestones
	// and locked decisions.
	Said      int `json:"said"`
	Named     int `json:"named"`
	Pinned    int `json:"pinned"`
	Quoted    int `json:"quoted"`
	Unquoted  int `json:"unquoted"`
	Decisions int `json:"decisions"`
	// Digest is the hash of all prompts of one transcript, in order: the same on every store.
	Digest string `json:"-"`
}

// Add adds the stats of another transcript, but for its digest.
func (s *Stats) Add(o Stats) {
	s.Transcripts += o.Transcripts
	s.Turns += o.Turns
	s.Prompts += o.Prompts
	s.Epochs += o.Epochs
	s.Refused += o.Refused
	s.Rebuilt += o.Rebuilt
	s.Passes += o.Passes
	for i := range s.Tiers {
		s.Tiers[i] += o.Tiers[i]
	}
	s.Drafted += o.Drafted
	s.Stood += o.Stood
	s.Fallbacks += o.Fallbacks
	s.Forced += o.Forced
	s.Useless += o.Useless
	s.Undone += o.Undone
	s.UndoneLater += o.UndoneLater
	s.Restored += o.Restored
	s.Modes += o.Modes
	s.Strategies += o.Strategies
	s.Unrestored += o.Unrestored
	s.Said += o.Said
	s.Named += o.Named
	s.Pinned += o.Pinned
	s.Quoted += o.Quoted
	s.Unquoted += o.Unquoted
	s.Decisions += o.Decisions
}
