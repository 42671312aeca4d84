package compress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestVerify(t *testing.T) {
	full := good
	for _, tt := range []struct {
		name     string
		text     string
		problems []string
	}{
		{"stands", full, nil},
		{"empty", "\n ", []string{
			"it is empty", "the decision is missing: Use JWT for authentication", "the file is missing: src/auth/jwt.ts",
			"the decision is missing: We decided to keep refresh tokens in Redis on port 6380.", "the next is missing: Write the tests for expiry",
			"it holds 0 of the 4 literals that matter; missing are 6380, src/auth/login.ts, 4711, validateToken",
		}},
		{"NUL", full + "\n\x00", []string{"it is no text"}},
		{"a decision in other words", strings.Replace(full, "JWT was chosen for authentication", "For authentication we use JWT", 1), nil},
		{"a decision denied", strings.Replace(full, "JWT was chosen", "JWT was not chosen", 1), []string{"the decision is missing: Use JWT for authentication"}},
		{"a decision torn apart", strings.Replace(full, "JWT was chosen for", "JWT.\nChosen for", 1), []string{"the decision is missing: Use JWT for authentication"}},
		{"no decision", strings.Replace(full, "JWT was chosen for authentication", "It was chosen", 1), []string{"the decision is missing: Use JWT for authentication"}},
		{"no file", strings.Replace(full, "src/auth/jwt.ts", "jwt.ts", 1), []string{"the file is missing: src/auth/jwt.ts"}},
		{"another file", strings.Replace(full, "src/auth/jwt.ts", "src/auth/jwt.tsx", 1), []string{"the file is missing: src/auth/jwt.ts"}},
		{"a file below", strings.Replace(full, "src/auth/jwt.ts", "old/src/auth/jwt.ts", 1), []string{"the file is missing: src/auth/jwt.ts"}},
		{"a file at the end of a sentence", full + "\nAgain src/auth/jwt.ts.", nil},
		{"no next step", strings.Replace(full, "write the tests", "write nothing", 1), []string{"the next is missing: Write the tests for expiry", "the turns do not have this: Next: write nothing for expiry."}},
		{"a literal less", strings.Replace(full, "validateToken", "it", 1), []string{"it holds 3 of the 4 literals that matter; missing are validateToken"}},
		{"two literals less", strings.NewReplacer("validateToken", "it", "4711", "47110").Replace(full), []string{"it holds 2 of the 4 literals that matter; missing are 4711, validateToken"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := compress.Verify(request(story(), 200), tt.text)
			if diff := cmp.Diff(tt.problems, v.Problems); diff != "" || v.OK() != (tt.problems == nil) {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if v.Tokens != count(tt.text) || v.Source != count(transcriptOf(story())) {
				t.Errorf("%d tokens of %d", v.Tokens, v.Source)
			}
		})
	}
}

// transcriptOf is what the turns of a log are counted as.
func transcriptOf(l *log) string {
	var b strings.Builder
	for _, t := range l.turns {
		head := fmt.Sprintf("[%d] %s: ", t.Seq, t.Role)
		switch c := t.Content.(type) {
		case turn.Text:
			b.WriteString(head + c.Text)
			for _, call := range c.ToolCalls {
				b.WriteString("\n" + head + "called " + call.Name + " " + call.Arguments)
			}
		case turn.Result:
			b.WriteString(head + c.Name + " returned " + string(c.Status) + ": " + c.Result)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestAnErrorThatWasTalkedAboutIsNoExcuse(t *testing.T) {
	l := chat().agent("Error: the brush is broken. So it was painted by hand.")
	for text, want := range map[string]bool{
		"Error: the brush is broken. The door was painted by hand.":      true,
		"Error: the painter is gone. The door was painted by hand.":      false,
		"Unable to paint the door by hand, so it dries.":                 false,
		"The door was painted by hand. Error: the brush is broken, damp": true,
	} {
		if v := compress.Verify(request(l, 100), text); v.OK() != want {
			t.Errorf("%q: %q", text, v.Problems)
		}
	}
}

func TestMostLiteralsAreEnough(t *testing.T) {
	ids := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("id_%02d", i))
		}
		return strings.Join(all, " ")
	}
	l := (&log{}).user("These: " + ids(10)).agent("They were counted, all of them. " + strings.Repeat("Counting takes long. ", 80)).user("Thanks").agent("Welcome")
	r := request(l, 300)
	if v := compress.Verify(r, "Counting all: "+ids(9)); !v.OK() || !cmp.Equal(v.Literals, []string{"id_09"}) {
		t.Errorf("%+v", v)
	}
	if v := compress.Verify(r, "Counting all: "+ids(8)); v.OK() {
		t.Errorf("%+v", v)
	}
	_, receipt, err := compress.Run(t.Context(), &summariser{answers: []string{"Counting all: " + ids(9)}}, r, compress.Options{})
	if err != nil || receipt.Held != 9 || receipt.Literals != 10 || !cmp.Equal(receipt.Missing, []string{"id_09"}) {
		t.Errorf("%+v, %v", receipt, err)
	}
}

// TestWhatMatters says which literals must not be lost.
func TestWhatMatters(t *testing.T) {
	talk := strings.Repeat("Nothing of interest happened for a while. ", 40)
	for _, tt := range []struct {
		name string
		log  *log
		want []string
	}{
		{"the user names it", (&log{}).user("see alpha_1").agent(talk).agent("done"), []string{"alpha_1"}},
		{"once by the agent", (&log{}).agent("see alpha_1").agent(talk), nil},
		{"twice in one turn", (&log{}).agent("see alpha_1 and alpha_1").agent(talk), nil},
		{"in two turns", (&log{}).agent("see alpha_1").agent("alpha_1 it is").agent(talk), []string{"alpha_1"}},
		{"in a tool's arguments and its result", (&log{}).tool("look", `{"id":"alpha_1"}`, turn.CallOK, `"alpha_1"`).agent(talk), []string{"alpha_1"}},
		{"the name of a tool", (&log{}).tool("look_up", `{}`, turn.CallOK, `1`).agent(talk), nil},
		{"in a decision", (&log{}).agent("We decided to use alpha_1.").agent(talk), []string{"alpha_1"}},
		{"one digit", (&log{}).user("see 7, please").agent(talk).agent("done"), nil},
		{"a long one", (&log{}).user("see alpha_" + strings.Repeat("x", 200)).agent(talk).agent("done"), nil},
		{"decisions first, then the user, then what is said most", (&log{}).agent("x_1").agent("x_1 x_2").agent("x_1 x_2").user("see x_3").agent("We chose x_4.").agent(talk), []string{"x_4", "x_3", "x_1", "x_2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if v := compress.Verify(request(tt.log, 400), "nothing"); !cmp.Equal(v.Literals, tt.want) {
				t.Errorf("%q, want %q", v.Literals, tt.want)
			}
		})
	}
}

func TestWhatStandsBesideNeedNotBeTold(t *testing.T) {
	l := story()
	r := request(l, 200)
	r.Source.Beside = []turn.Range{{From: 1, To: 2}, {From: 6, To: 6}}
	want := []compress.Fact{
		{Kind: compress.FactFile, Text: "src/auth/jwt.ts", Seq: 5},
		{Kind: compress.FactDecision, Text: "We decided to keep refresh tokens in Redis on port 6380.", Seq: 7},
		{Kind: compress.FactNext, Text: "Write the tests for expiry", Seq: 9},
	}
	v := compress.Verify(r, "nothing")
	if diff := cmp.Diff(want, v.Facts); diff != "" || !cmp.Equal(v.Literals, []string{"6380"}) {
		t.Errorf("%s%q", diff, v.Literals)
	}
	if all := compress.Verify(request(l, 200), "nothing").Source; v.Source >= all {
		t.Errorf("%d of %d tokens are replaced", v.Source, all)
	}
	summary, _, err := compress.Run(t.Context(), nil, r, compress.Options{})
	if err != nil || strings.Contains(summary, "JWT") || strings.Contains(summary, "look at code") {
		t.Errorf("%q, %v", summary, err)
	}
}

func TestWhatHasNoRoomIsListed(t *testing.T) {
	l := &log{}
	for i := range 40 {
		l.agent(fmt.Sprintf("[DECISION] Use part %c%c of the plan for the house and its %d windows\n[ARTIFACT] Created plans/house_%d.txt", 'a'+i/26, 'a'+i%26, 100+i, i))
		l.user(fmt.Sprintf("Is plans/house_%d.txt done?", i))
	}
	r := request(l, 200)
	summary, receipt, err := compress.Run(t.Context(), nil, r, compress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(summary, "139 windows") || strings.Contains(summary, "Decided: Use part aa") {
		t.Errorf("the newest decisions are not told: %s", summary)
	}
	if receipt.Facts < 3 || len(receipt.Omitted) < 50 || !strings.Contains(receipt.Omitted[len(receipt.Omitted)/4], "windows") {
		t.Errorf("%+v", receipt)
	}
	listed := map[string]bool{}
	for _, o := range receipt.Omitted {
		if strings.Contains(summary, o+"\n") {
			t.Errorf("%q is in the summary", o)
		}
		if listed[o] {
			t.Errorf("%q is listed twice", o)
		}
		listed[o] = true
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(good, "Please add", "We decided", 200)
	f.Add("User: x\nThe user wants", "\xff", "[DECISION] a - LOCKED\n```", 10)
	f.Add("", "", "error: ", -1)
	f.Fuzz(func(t *testing.T, summary, user, agent string, budget int) {
		l := story().user(user).agent(agent)
		for _, mode := range []string{"", compress.ModeDebugger, compress.ModeDeveloper} {
			r := request(l, budget%1000)
			r.Mode, r.Count = mode, quarter
			if v := compress.Verify(r, summary); v.OK() && (strings.TrimSpace(summary) == "" || v.Tokens >= v.Source || v.Tokens > r.Budget || len(v.Facts)+len(v.Invented) > 0) {
				t.Errorf("%+v", v)
			}
			if text, err := (compress.Extractive{}).Summarise(t.Context(), r); err != nil || text != "" && quarter(text) > r.Budget {
				t.Errorf("%q, %v", text, err)
			} else if text == "" && r.Budget > 20 {
				t.Errorf("no summary for %d tokens", r.Budget)
			}
		}
	})
}
