package turnstone_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// Settings, and a message with them, fit where a prompt can be made of them, and nothing is kept of the question.
func TestFits(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Context: 4096})
	words := func(n int) string { return strings.Repeat("word ", n) }
	tools := make([]prompt.Definition, 90)
	for i := range tools {
		tools[i] = prompt.Definition{Name: fmt.Sprintf("tool%d", i), Description: words(30), Schema: `{"type":"object"}`}
	}
	for name, test := range map[string]struct {
		settings prompt.Settings
		context  int
		said     []string
		over     bool
		field    string
	}{
		"nothing":          {},
		"a little":         {settings: prompt.Settings{System: "Be brief."}},
		"much":             {settings: prompt.Settings{System: words(1500)}},
		"too much":         {settings: prompt.Settings{System: words(5000)}, over: true},
		"in a larger one":  {settings: prompt.Settings{System: words(5000)}, context: 16384},
		"too many tools":   {settings: prompt.Settings{Tools: tools}, over: true},
		"tools, with room": {settings: prompt.Settings{Tools: tools}, context: 32768},
		"a message":        {said: []string{words(1500)}},
		"with too much":    {settings: prompt.Settings{System: words(1500)}, said: []string{words(1500)}, over: true},
		"too long":         {said: []string{words(5000)}, over: true},
		"with room":        {said: []string{words(5000)}, context: 16384},
		"no text":          {settings: prompt.Settings{System: "\xff"}, field: "system"},
		"no context":       {context: 1, field: "context"},
	} {
		room, err := eng.Fits(t.Context(), "some-model", test.context, test.settings, test.said...)
		var wrong *invalid.Field
		if errors.As(err, &wrong); errors.Is(err, turnstone.ErrOverBudget) != test.over || (wrong != nil) != (test.field != "") || wrong != nil && wrong.Name != test.field ||
			err != nil && !test.over && wrong == nil {
			t.Errorf("%s: %v", name, err)
		}
		if wrong != nil {
			continue
		}
		s, err := eng.Create(t.Context(), turn.SessionInfo{Model: "some-model"})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range test.said {
			say(t, s, turn.User, text)
		}
		p, err := s.Prompt(t.Context(), turnstone.PromptOptions{Settings: &test.settings, Context: test.context})
		if errors.Is(err, turnstone.ErrOverBudget) != test.over {
			t.Errorf("%s: a prompt of them: %v", name, err)
		}
		if err == nil && room > p.Account.Free() {
			t.Errorf("%s: %d tokens are left, of a prompt %d", name, room, p.Account.Free())
		}
	}
}

// Around the size where a message no longer fits, alone, a prompt says the same of it: of one part or of several, which are counted
// one by one.
func TestFitsAtTheBorder(t *testing.T) {
	kinds := []string{"word ", "for i := range n {\n", `{"a":[1,2,3]},`, "東京は日本の首都です。", "🙂 ", "\n", "Straße ", "0123456789abcdef"}
	random := rand.New(rand.NewPCG(1, 2))
	settings := prompt.Settings{System: "Be brief."}
	for _, model := range []string{"some-model", "gpt-4o"} {
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{Context: 2048})
		for range 20 {
			picked := make([]string, []int{1, 2, 5, 30, 700}[random.IntN(5)])
			for i := range picked {
				picked[i] = kinds[random.IntN(len(kinds))]
			}
			parts := func(size int) (all []string) {
				for _, kind := range picked {
					all = append(all, strings.Repeat(kind, 1+size/len(kind)/len(picked)))
				}
				return all
			}
			border := sort.Search(20_000, func(size int) bool {
				_, err := eng.Fits(t.Context(), model, 0, settings, parts(size)...)
				return err != nil
			})
			for _, size := range []int{max(border-1, 0), border} {
				room, err := eng.Fits(t.Context(), model, 0, settings, parts(size)...)
				s, failed := eng.Create(t.Context(), turn.SessionInfo{Model: model})
				if failed != nil {
					t.Fatal(failed)
				}
				var drafts []turn.Draft
				for _, text := range parts(size) {
					drafts = append(drafts, turn.Draft{Role: turn.User, MessageID: "m", Content: turn.Text{Text: text}})
				}
				if _, failed := s.Append(t.Context(), drafts...); failed != nil {
					t.Fatal(failed)
				}
				p, over := s.Prompt(t.Context(), turnstone.PromptOptions{Settings: &settings})
				if errors.Is(err, turnstone.ErrOverBudget) != errors.Is(over, turnstone.ErrOverBudget) || over == nil && room != p.Account.Free() {
					t.Errorf("%s: %q of %d bytes: %v with %d left, of a prompt %v", model, picked, size, err, room, over)
				}
			}
		}
	}
}
