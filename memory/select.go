package memory

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Selection is how [Select] decides. The zero Selection is useful.
type Selection struct {
	// Weights of the importance. Defaults to [DefaultWeights].
	Weights Weights
	// Policies by type. Defaults to [DefaultPolicies].
	Policies Policies
	Quota    Quota
	// Scorer judges candidates. Defaults to [Rules].
	Scorer Scorer
}

// Quota bounds how much is remembered. What the policies exempt counts, but is never refused nor
// archived for it.
type Quota struct {
	// Session is how many live items a session may have. Past it the least important are archived, and a sixteenth of the
	// quota with them, though never more than 256, so that not every exchange has to make room. Defaults to 4,096.
	Session int64
	// Exchange is how many items an exchange may add. Past it the least important are dropped.
	// Defaults to 256.
	Exchange int
}

// DefaultQuota is that of a Selection that says nothing else.
var DefaultQuota = Quota{Session: 4096, Exchange: 256}

// Reason is why a candidate was dropped.
type Reason string

// The reasons, in the order they are looked for.
const (
	Unimportant Reason = "unimportant" // below its type's threshold
	Irrelevant  Reason = "irrelevant"  // to goals, to the user and to what can be done
	OverQuota   Reason = "quota"       // the exchange had more that was more important
)

// Dropped is a candidate that was not kept.
type Dropped struct {
	Index      int // among the candidates
	Type       Type
	Reason     Reason
	Importance float64
}

// MaxDropped bounds the list of what a selection dropped; the rest is counted.
const MaxDropped = 100

// DropCounts counts candidates by why they were dropped.
type DropCounts struct {
	Unimportant, Irrelevant, OverQuota int
}

// Selected is what a selection decided. It shares text, data and links with the candidates.
type Selected struct {
	Kept    []Episode  // in the order of the candidates
	Dropped []Dropped  // the first [MaxDropped], in the order of the candidates
	Rest    DropCounts // those after them
	// Archive is how many items of the session, those with the lowest importance of the types that
	// [Policies.Archivable] names, have to be archived to make room. There may be fewer.
	Archive int
	likes   []likeness // of what was kept
}

// Select decides what of an exchange is remembered. It is pure: the same arguments give the same
// answer, nothing is written, no argument is changed.
//
// A candidate passes these gates in order: its importance reaches its type's threshold; it is relevant,
// which everything is that its policy always keeps, that relates to a goal or the user at all, or
// whose actionability is at least 0.2, since what can be acted on is relevant to future decisions;
// the exchange's quota, where the least important go first, of those with the same importance the
// last. What is kept gets its retention: [Episode.Expires].
//
// Of what comes out of the log ([Candidate.DataChecked]) text past [MaxText] is cut and says so, and data past
// [MaxData] is left out with a note in the item's provenance. More candidates than twice [MaxCandidates], a candidate that [Candidate.CheckNew] refuses, and a scorer that
// gives a number that is not from 0 to 1 are a *[FieldError] that names the place, such as
// candidates[3].novelty; nothing is selected then.
func Select(candidates []Candidate, v *View, how Selection) (Selected, error) {
	how, err := how.WithDefaults()
	if err != nil {
		return Selected{}, err
	}
	if len(candidates) > maxSelection {
		return Selected{}, fieldErrorf("candidates", fmt.Sprintf("select from at most %d", maxSelection),
			"there are %d", len(candidates))
	}
	view := *v
	view.work = newWork(len(candidates))
	defer func() {
		view.work.release()
		view.work = nil // a scorer may have kept the view
	}()
	var room [8]verdict // as many as most exchanges have
	verdicts := room[:0]
	if len(candidates) > len(room) {
		verdicts = make([]verdict, 0, len(candidates))
	}
	verdicts = verdicts[:len(candidates)]
	for i := range candidates {
		if i < len(candidates)-v.Checked {
			if err := candidates[i].CheckNew(); err != nil {
				return Selected{}, within(indexed("candidates", i), err)
			}
		}
		if verdicts[i], err = how.judge(&candidates[i], &view); err != nil {
			return Selected{}, within(indexed("candidates", i), err)
		}
		if verdicts[i].reason == "" {
			view.work.keep(&candidates[i])
			verdicts[i].like = view.work.like
		}
	}
	how.dropPastQuota(candidates, verdicts)
	return how.collect(candidates, verdicts, &view), nil
}

// relevantAction is the actionability from which on a candidate is relevant whatever it is about.
const relevantAction = 0.2

// verdict is what was decided about a candidate; without a reason it is kept.
type verdict struct {
	reason     Reason
	importance float64
	inputs     Inputs
	like       likeness
}

func (how *Selection) judge(c *Candidate, v *View) (verdict, error) {
	in := c.Given.over(how.Scorer.Score(c, v))
	if err := in.Check(); err != nil {
		return verdict{}, err
	}
	in = in.rounded()
	importance := fromMillionths(millionths(how.Weights.score(in)))
	policy := how.Policies.of(c.Type)
	d := verdict{importance: importance, inputs: in}
	switch {
	case importance < policy.Threshold:
		d.reason = Unimportant
	case !policy.Always && in.Goals == 0 && in.User == 0 && in.Actionability < relevantAction:
		d.reason = Irrelevant
	}
	return d, nil
}

// dropPastQuota drops the least important of what an exchange has too much.
func (how *Selection) dropPastQuota(candidates []Candidate, verdicts []verdict) {
	if len(candidates) <= how.Quota.Exchange {
		return
	}
	var counted []int
	for i := range verdicts {
		if verdicts[i].reason == "" && !how.Policies.of(candidates[i].Type).QuotaExempt {
			counted = append(counted, i)
		}
	}
	if len(counted) <= how.Quota.Exchange {
		return
	}
	slices.SortStableFunc(counted, func(a, b int) int {
		return cmp.Compare(verdicts[b].importance, verdicts[a].importance)
	})
	for _, i := range counted[how.Quota.Exchange:] {
		verdicts[i].reason = OverQuota
	}
}

func (how *Selection) collect(candidates []Candidate, verdicts []verdict, v *View) Selected {
	var s Selected
	kept, tags := 0, 0
	for i := range verdicts {
		if verdicts[i].reason == "" {
			kept++
			tags += tagRoom(candidates[i].Tags)
		}
	}
	s.Kept, s.likes = make([]Episode, kept), make([]likeness, 0, kept)
	room := make([]string, tags) // for the tags of all, which are kept together
	now := v.Now.UTC().Truncate(time.Microsecond)
	for i, e := 0, s.Kept; i < len(verdicts); i++ {
		d, c := &verdicts[i], &candidates[i]
		switch {
		case d.reason == "":
			n := tagRoom(c.Tags)
			how.fill(&e[0], c, d, v, now, room[:0:n])
			e, room = e[1:], room[n:]
			s.likes = append(s.likes, d.like)
		case len(s.Dropped) < MaxDropped:
			s.Dropped = append(s.Dropped, Dropped{Index: i, Type: c.Type, Reason: d.reason, Importance: d.importance})
		default:
			s.Rest.add(d.reason)
		}
	}
	s.Archive = int(max(0, v.Live+int64(kept)-how.Quota.Session))
	return s
}

// Sum is how many they are together.
func (n DropCounts) Sum() int { return n.Unimportant + n.Irrelevant + n.OverQuota }

func (n *DropCounts) add(r Reason) {
	switch r {
	case Unimportant:
		n.Unimportant++
	case Irrelevant:
		n.Irrelevant++
	case OverQuota:
		n.OverQuota++
	}
}

// fill makes a kept candidate an item, with its tags in the room that there is for them.
func (how *Selection) fill(e *Episode, c *Candidate, d *verdict, v *View, now time.Time, room []string) {
	policy := how.Policies.of(c.Type)
	*e = Episode{
		Type: policy.Type, Text: c.Text, Data: c.Data, Importance: d.importance,
		Tags: uniqueTags(room, c.Tags), Links: c.Links, Created: now, Expires: policy.Expires(now),
		Provenance: Provenance{ExportID: v.ExportID, TurnID: v.TurnID, Source: c.Source, Inputs: d.inputs},
	}
	if policy.Type != c.Type {
		e.nameType(c.Type)
	}
	e.shorten()
	if v.NextID != nil {
		e.ID = v.NextID()
	}
}

// nameType says in an item what type it was given as, which is none that is stored.
func (e *Episode) nameType(t Type) {
	switch tag := foldTag(string(t)); {
	case slices.Contains(e.Tags, tag):
	case len(tag) <= MaxTag && len(e.Tags) < MaxTags:
		e.Tags = append(e.Tags, tag)
	default:
		e.Provenance.Notes = append(e.Provenance.Notes, fmt.Sprintf("type: %q is kept as an %s", t, e.Type))
	}
}

// shorten brings text and data of what is in the log within their bounds.
func (e *Episode) shorten() {
	if n := len(e.Text); n > MaxText {
		note := fmt.Sprintf("\n[cut: the text of %d bytes is in the log]", n)
		e.Text = firstBytes(e.Text, MaxText-len(note)) + note
		e.Provenance.Notes = append(e.Provenance.Notes, "text: cut; it is in the log")
	}
	if len(e.Data) > MaxData {
		e.Data = ""
		e.Provenance.Notes = append(e.Provenance.Notes, "data: too large; it is in the log")
	}
}

// WithDefaults returns the selection with what is zero set to its default. The error, a *[FieldError], names the weight, policy or
// quota that [Select] would refuse.
func (how Selection) WithDefaults() (Selection, error) {
	if how.Weights == (Weights{}) {
		how.Weights = DefaultWeights
	}
	if how.Policies == nil {
		how.Policies = DefaultPolicies
	}
	if how.Scorer == nil {
		how.Scorer = Rules{}
	}
	if how.Quota.Session < 0 || how.Quota.Exchange < 0 {
		return how, fieldErrorf("quota", "use 0 for the default or a positive number", "negative quota %+v", how.Quota)
	}
	if how.Quota.Session == 0 {
		how.Quota.Session = DefaultQuota.Session
	}
	if how.Quota.Exchange == 0 {
		how.Quota.Exchange = DefaultQuota.Exchange
	}
	if err := how.Weights.Check(); err != nil {
		return how, err
	}
	return how, how.Policies.Check()
}
