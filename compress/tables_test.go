package compress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestEveryPhrase has one sentence for each phrase that makes it a fact.
func TestEveryPhrase(t *testing.T) {
	for kind, sentences := range map[compress.FactKind]string{
		compress.FactDecision: `We decided it.
			I decided it.
			I've decided it.
			We've decided it.
			They decided to leave.
			They decided on blue.
			They decided against blue.
			Decision: blue.
			It was decided.
			We agreed.
			They agreed to leave.
			They agreed on blue.
			We'll go with blue.
			I'll go with blue.
			Let's go with blue.
			We will go with blue.
			Going with blue.
			We'll use blue.
			We will use blue.
			Let's use blue.
			We chose blue.
			I chose blue.
			We settled on blue.
			They settled on blue.
			The plan is blue.
			The final choice is blue.
			We are using blue.
			From now on it is blue.
			We won't paint.
			We will not paint.
			Blue instead of using red.
			Approved: blue.
			Rejected: blue.`,
		compress.FactRequest: `TODO: blue.
			To do: blue.
			FIXME: blue.
			I still need to paint.
			It still needs to dry.
			We still have to paint.
			It remains to be painted.
			It is not done yet.
			It is not yet done.
			Waiting for paint.
			Waiting on paint.
			Blocked by rain.
			Blocked on rain.
			An open question is blue.
			Some open questions are left.
			Remind me of it.
			Don't forget it.
			Do not forget it.
			Remaining work is little.
			Remaining steps are few.
			It is unresolved.
			Follow up on paint.`,
		compress.FactNext: `The next step is paint.
			The next steps are few.
			Next, I'll paint.
			Next I'll paint.
			Next, we paint.
			Next we paint.`,
	} {
		for line := range strings.SplitSeq(sentences, "\n") {
			sentence := strings.TrimSpace(line)
			s := (&log{}).agent("It rained. " + sentence + " It rained again.").source()
			if facts := s.Facts(); len(facts) != 1 || facts[0] != (compress.Fact{Kind: kind, Text: sentence, Seq: 1}) {
				t.Errorf("%q: %+v", sentence, facts)
			}
		}
	}
}

// TestEveryProtection has one line for each that a mode keeps.
func TestEveryProtection(t *testing.T) {
	for mode, lines := range map[string]string{
		compress.ModeDeveloper: `The architecture is plain.
			A design pattern is used.
			The tech stack is old.
			The technology stack is old.
			The API contract is old.
			The contract is old.
			An endpoint is old.
			Some endpoints are old.
			The data model is old.
			The schema is old.
			A foreign key is there.
			A primary key is there.
			The interface must stay.
			It must return one.
			The status code is one.
			It is backward compatible.
			It is backwards compatible.
			A breaking change it is.
			GET /x gives one
			POST /x gives one
			PUT /x gives one
			PATCH /x gives one
			DELETE /x gives one`,
		compress.ModePlanning: `The goal is blue.
			The goals are blue.
			This is our goal.
			The objective is blue.
			A requirement is blue.
			The requirements are blue.
			It is required to be blue.
			A must have is blue.
			It must be blue.
			It must not be red.
			It must support blue.
			A constraint is blue.
			The constraints are blue.
			The deadline is near.
			No later than noon.
			It takes at most one.
			It takes at least one.
			The budget is small.
			That is out of scope.
			That is in scope.
			The acceptance criteria are few.
			A milestone is near.`,
		compress.ModeAssistant: `I prefer blue.
			She prefers blue.
			My preferred colour is blue.
			A preference is blue.
			I like blue.
			I love blue.
			I hate blue.
			I dislike blue.
			I don't like blue.
			I always paint.
			I never paint.
			My favourite is blue.
			My favorite is blue.
			I am allergic to blue.
			Please always paint.
			Please never paint.
			Call me blue.
			I'd rather paint.
			I usually paint.
			I want you to paint.`,
		compress.ModeDebugger: `It said error: blue.
			An exception was there.
			It said panic: blue.
			It said fatal: blue.
			It failed with blue.
			It fails with blue.
			A crash was there.
			It crashes.
			A segmentation fault was there.
			A stack trace was there.
			A traceback was there.
			Click to reproduce it.
			The steps to reproduce are few.
			The repro steps are few.
			I can reproduce it.
			The root cause is blue.
			I expected blue.
			The exit code is one.
			The exit status is one.
			It timed out.
			at x.go:3
			goroutine 1 [running]:
			Traceback (most recent call last)
			File "x.py", line 3
			Caused by: blue
			--- FAIL: TestX
			fatal error: blue`,
	} {
		for line := range strings.SplitSeq(lines, "\n") {
			line = strings.TrimSpace(line)
			s := (&log{}).agent("It rained.\n" + line + "\nIt rained again.").source()
			if facts := s.Protected(mode); len(facts) != 1 || facts[0].Text != line {
				t.Errorf("%s: %q: %+v", mode, line, facts)
			}
		}
	}
	for mode, lines := range map[string]string{
		compress.ModeDeveloper: "create table x|alter table x|interface X {|type X|message X|service X|rpc X|class X|struct X|export interface X|export type X",
		compress.ModeDebugger:  "at x|goroutine 1|traceback x|file \"x|caused by: x|panic: x|error: x|--- fail|fatal error",
	} {
		for line := range strings.SplitSeq(lines, "|") {
			s := (&log{}).agent("Look:\n```\nx := 1\n" + line + "\n```").source()
			if facts := s.Protected(mode); len(facts) != 1 || facts[0].Text != line {
				t.Errorf("%s: %q in code: %+v", mode, line, facts)
			}
		}
	}
}

// TestEveryExcuse has every beginning that is no summary's.
func TestEveryExcuse(t *testing.T) {
	for _, text := range []string{
		"I'm sorry, no", "I’m sorry, no", "I am sorry", "Sorry, no", "I apologize", "I apologise", "I cannot", "I can't", "I can not", "I am unable", "I'm unable", "Unable to go", "As an AI",
		"As a language model", "Error", "An error occurred", "Internal Server Error", "Rate limit reached", "Too many requests", "429", "500", "502", "503",
		`{"error":{}}`, "<html>", "<!DOCTYPE html>", "Request timed out", "Timeout", "Service Unavailable", "Context length exceeded", "No content", "Bad Gateway",
		"Please provide the text", "Sure, please send it",
	} {
		v := compress.Verify(request(chat(), 100), text+": the door was painted green with the old brush")
		if v.OK() || v.Problems[0] != "it is an error message or an excuse, not a summary" {
			t.Errorf("%q: %q", text, v.Problems)
		}
	}
}

// TestEveryToolThatChangesFiles has every word of a tool's name, and every name of an argument.
func TestEveryToolThatChangesFiles(t *testing.T) {
	check := func(tool, arguments string) {
		t.Helper()
		s := (&log{}).tool(tool, arguments, turn.CallOK, `1`).source()
		if facts := s.Facts(); len(facts) != 1 || facts[0].Text != "a.go" {
			t.Errorf("%s %s: %+v", tool, arguments, facts)
		}
	}
	for word := range strings.FieldsSeq("write edit create update modify replace insert append patch delete remove rename move save put touch mkdir") {
		check("fs_"+word, `{"path":"a.go"}`)
		check(word+"File", `{"path":"a.go"}`)
	}
	for name := range strings.FieldsSeq("path file file_path filepath filename file_name target_file new_path notebook_path destination target to") {
		check("write", fmt.Sprintf(`{%q:"a.go"}`, name))
	}
	for name := range strings.FieldsSeq("patch diff input") {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "rename to "} {
			check("apply_patch", fmt.Sprintf(`{%q:%q}`, name, head+"a.go\n+x"))
		}
	}
}

// TestEveryAct has what a summary most often says of the user.
func TestEveryAct(t *testing.T) {
	acts := `accepted agreed agrees allowed always approved approves are asked asks can cannot chose clarified confirmed confirms could decided demanded
		demands did does expects explained expressed had has hates have hopes indicated insisted instructed intends is likes loves may mentioned might must
		needed needs never noted now ordered plans preferred prefers proposed provided requested requests required requires rejected replied said says
		seeks should specified stated suggested suggests then thinks told tried uses wanted wants was were will wishes would wrote`
	for act := range strings.FieldsSeq(acts) {
		text := "The user " + act + " a green door."
		if v := compress.Verify(request(chat(), 100), text); len(v.Invented) != 1 {
			t.Errorf("%q passes", text)
		}
	}
	for thing := range strings.FieldsSeq(`approval confirmation constraints decision feedback goal instruction instructions intent message need preference preferences question request
		requirement response rule task wish words`) {
		text := "The user's " + thing + ": a green door."
		if v := compress.Verify(request(chat(), 100), text); len(v.Invented) != 1 {
			t.Errorf("%q passes", text)
		}
	}
	for claim := range strings.FieldsSeq("asked told want wanted said requested instructed prefer preferred decided approved confirmed agreed demanded insisted ordered wished") {
		text := "Earlier you " + claim + " a green door."
		if v := compress.Verify(request(chat(), 100), text); len(v.Invented) != 1 {
			t.Errorf("%q passes", text)
		}
	}
}
