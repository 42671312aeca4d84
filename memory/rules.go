package memory

// Scorer judges a candidate. It must depend on its arguments alone and not change them: the same
// exchange must be judged the same whenever its commit is tried again.
type Scorer interface {
	Score(c *Candidate, v *View) Inputs
}

// Rules is the default [Scorer]. It needs no model.
//
//   - Relevance to goals is the weighted overlap of the candidate's words with the active goal it is
//     most about; see [NewInterests].
//   - Relevance to the user is the same against what is known of the user and what the user said in
//     this exchange, the higher of the two. What the user said is about the user: 1.
//   - Novelty is 1 minus the highest similarity to one of the session's last 256 items or to what was
//     kept before it in this exchange. An exact repetition is 0.
//   - Confidence follows from who says it: a user knows what the user wants (0.95); a tool reports what
//     it did (0.9), but its error says what failed and not always why (0.8); the program's own records
//     are facts that somebody chose to write (0.8); a daemon concludes from what it was sent (0.7); a
//     model may be wrong about what it noticed (0.6) and more so about what went wrong (0.5); a
//     scratch item is a note until somebody looks at it (0.5).
//   - Actionability starts with the type: what a user tells changes what is done next (0.5), an
//     error wants to be handled (0.3), so does a note (0.3), an observation may (0.2), results
//     (0.15) and events (0.1) mostly just happened. It rises where the text tells what to do or what is
//     missing ("try", "install", "required": 0.25, with several such words 0.4) and where it names
//     a path or quotes a command (0.2).
//
// Of a candidate the first KiB of its text is looked at and, for novelty, samples of its data; what
// lies between them is not seen. Only where there is no text is all else judged by data too.
type Rules struct{}

// Score implements [Scorer]. It is safe for concurrent use with different views.
func (Rules) Score(c *Candidate, v *View) Inputs {
	w := v.work
	if w == nil {
		w = new(work)
	}
	w.read(c)
	words := w.glance.words[:w.text]
	// What is given is not looked for.
	in := Inputs{User: 1, Confidence: confidence(c), Actionability: actionability(c, &w.glance)}
	if c.Given.Goals == nil {
		in.Goals = v.Goals.relevance(words)
	}
	if c.Given.User == nil && c.Source != FromUser && c.Type != UserData {
		in.User = max(v.User.relevance(words), v.Input.relevance(words))
	}
	if c.Given.Novelty == nil {
		in.Novelty = 1 - w.nearest(v)
	}
	return in
}

func confidence(c *Candidate) float64 {
	switch {
	case c.Type == ScratchItem:
		return 0.5
	case c.Source == FromUser:
		return 0.95
	case c.Source == FromTool && c.Type == Error:
		return 0.8
	case c.Source == FromTool:
		return 0.9
	case c.Source == FromAgent && c.Type == Error:
		return 0.5
	case c.Source == FromAgent:
		return 0.6
	case c.Source == FromDaemon:
		return 0.7
	}
	return 0.8
}

func actionability(c *Candidate, g *glance) float64 {
	a := 0.1
	switch c.Type {
	case UserData:
		a = 0.5
	case Error, ScratchItem:
		a = 0.3
	case Observation:
		a = 0.2
	case ToolResult:
		a = 0.15
	}
	switch {
	case g.action > 1:
		a += 0.4
	case g.action == 1:
		a += 0.25
	}
	if g.path {
		a += 0.2
	}
	return min(a, 1)
}
