package prompt_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

func fullMessage() prompt.Message {
	return prompt.Message{
		Role: prompt.Tool, Seqs: []int64{3, 4}, CallID: "call_1_1", Name: "search", Failed: true,
		Parts: []prompt.Part{{Text: "a <b> \u2028"}, {Image: &prompt.Image{MediaType: "image/png", Alt: "cat", SHA256: "ab", Size: 7}}},
		Calls: []prompt.ToolCall{{ID: "call_1_2", Name: "look", Arguments: `{"a": 1}`}},
	}
}

func TestTheHashOfAMessageIsOfAllItsFields(t *testing.T) {
	m := fullMessage()
	golden(t, "message-1.json", string(m.AppendJSON(nil)))
	texts := map[string]bool{string(m.AppendJSON(nil)): true}
	for _, edit := range []func(*prompt.Message){
		func(m *prompt.Message) { m.Role = prompt.User },
		func(m *prompt.Message) { m.Seqs = m.Seqs[:1] },
		func(m *prompt.Message) { m.Parts[0].Text += " " },
		func(m *prompt.Message) { m.Parts[1].Image = nil },
		func(m *prompt.Message) { m.Parts[1].Image.MediaType = "image/gif" },
		func(m *prompt.Message) { m.Parts[1].Image.Alt = "" },
		func(m *prompt.Message) { m.Parts[1].Image.SHA256 = "cd" },
		func(m *prompt.Message) { m.Parts[1].Image.Size = 8 },
		func(m *prompt.Message) { m.Parts[0], m.Parts[1] = m.Parts[1], m.Parts[0] },
		func(m *prompt.Message) { m.Calls[0].ID = "x" },
		func(m *prompt.Message) { m.Calls[0].Name = "x" },
		func(m *prompt.Message) { m.Calls[0].Arguments = `{"a":1}` },
		func(m *prompt.Message) { m.CallID = "" },
		func(m *prompt.Message) { m.Name = "" },
		func(m *prompt.Message) { m.Failed = false },
	} {
		m := fullMessage()
		edit(&m)
		text := string(m.AppendJSON(nil))
		if texts[text] || strings.Contains(text, "\n") {
			t.Errorf("%s", text)
		}
		texts[text] = true
	}
}

func TestTheHashOfAPromptIsOfItsToolsAndMessages(t *testing.T) {
	w := newWorld(t, 4096)
	w.begin(prompt.Settings{System: "Be brief."})
	w.append(user("one"))
	p := w.compile()
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte("{}\n"+textOf(p)))); p.SHA256 != want {
		t.Errorf("%s, want %s", p.SHA256, want)
	}
	w.begin(prompt.Settings{System: "Be brief.", Tools: []prompt.Definition{{Name: "a", Description: "b", Schema: "{}"}}})
	w.request.Late = []string{"recalled"}
	p = w.compile()
	want := fmt.Sprintf("%x", sha256.Sum256([]byte(`{"tools":[{"name":"a","description":"b","schema":"{}"}]}`+"\n"+textOf(p))))
	if p.SHA256 != want {
		t.Errorf("%s, want %s", p.SHA256, want)
	}
}

// TestPromptsStayAsTheyAre compiles after every turn, with and without a late block, of a message that grows and of
// tools; that no prompt is changed by those after it is checked when the world ends.
func TestPromptsStayAsTheyAre(t *testing.T) {
	w := newWorld(t, 8192)
	for i := range 60 {
		for _, d := range [][]turn.Draft{
			{part(fmt.Sprint("m", i/2), "a part")}, {part(fmt.Sprint("m", i/2), "and another")},
			{agent("yes"), call("a")}, {result("a", "x")},
		}[min(i%4, 2):] {
			w.request.Late = nil
			if i%3 == 0 {
				w.request.Late = []string{fmt.Sprint("recalled ", i)}
			}
			w.append(d...)
			p := w.compile()
			if want := fmt.Sprintf("%x", sha256.Sum256([]byte("{}\n"+textOf(p)))); p.SHA256 != want {
				t.Fatalf("turn %d: the hash is not of the prompt", p.End)
			}
			var tokens int
			for _, l := range p.Account.Lines[:len(p.Account.Lines)-1] {
				tokens += l.Count.Tokens
			}
			if tokens != p.Count.Tokens {
				t.Fatalf("turn %d: the account says %d tokens, the count %d", p.End, tokens, p.Count.Tokens)
			}
		}
	}
}

func TestTheSizeOfAProjectionIsOfItsMessagesAndTexts(t *testing.T) {
	w := newWorld(t, 4096)
	w.begin(prompt.Settings{System: "Be brief."})
	w.append(user("hello"), call("a"), result("a", "xy"))
	w.compile()
	if want := int64(4*400 + len("Be brief.") + len("hello") + len(`{"q":1}`) + len("xy")); w.earlier.Size() != want {
		t.Errorf("%d bytes, want %d", w.earlier.Size(), want)
	}
}
