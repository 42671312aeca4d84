package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// A prompt fits the model's window to the token and says where every one of them goes.
func ExampleSession_Prompt() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{
		Prompt: prompt.Settings{System: "You look after orders.", Mandates: []string{"Answer in one sentence."}},
	}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "Where is order A-1000?")
	p := must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "gpt-4o", Context: 8192}))
	for _, m := range p.Messages {
		fmt.Printf("%s: %s\n", m.Role, m.Parts[0].Text)
	}
	for _, line := range p.Account.Lines {
		if line.Count.Tokens > 0 {
			fmt.Println(line.Part, line.Count.Tokens)
		}
	}
	// Output:
	// system: You look after orders.
	//
	// # Mandates
	//
	// - Answer in one sentence.
	// user: Where is order A-1000?
	// system prompt 22
	// recent turns 12
	// reply reserve 1044
}

// Settings that no prompt has room for are refused before anything is made for them.
func ExampleEngine_Fits() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	for _, words := range []int{100, 10_000} {
		_, err := eng.Fits(ctx, "gpt-4o", 8192, prompt.Settings{System: strings.Repeat("word ", words)})
		fmt.Println(words, errors.Is(err, turnstone.ErrOverBudget))
	}
	// Output:
	// 100 false
	// 10000 true
}

// An engine knows the models that it was given, and by default those of [budget.Known].
func ExampleEngine_Profile() {
	ctx := context.Background()
	own := must(budget.Known().With(budget.Profile{Name: "seer", Context: 8192, Vision: true}))
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Profiles: own, Context: 16384}))
	defer eng.Close()
	for _, model := range []string{"seer", "unheard-of"} {
		profile, known := eng.Profile(model)
		fmt.Println(model, known, profile.Vision, eng.ContextOf(model))
	}
	// Output:
	// seer true true 8192
	// unheard-of false false 16384
}

// Every prompt that was sent can be made again, byte for byte.
func ExampleSession_Again() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	var sent []*prompt.Prompt
	for _, text := range []string{"Hello.", "Are you there?"} {
		talk(chat, text)
		sent = append(sent, must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "gpt-4o"})))
	}
	for i, call := range must(chat.Prompts(ctx, 0, 10)) {
		again := must(chat.Again(ctx, call))
		fmt.Println(call.Number, call.End, call.Tokens, again.SHA256 == sent[i].SHA256)
	}
	first, recorded, err := chat.PromptAt(ctx, 1, turnstone.PromptOptions{})
	fmt.Println(first.SHA256 == sent[0].SHA256, recorded, err)
	// Output:
	// 1 1 9 true
	// 2 2 17 true
	// true true <nil>
}

// The beginning of prompts stays the same for an epoch, so that servers need not read it again.
func ExampleSession_Epoch() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	for _, system := range []string{"Be brief.", "Be brief.", "Be polite."} {
		talk(chat, "Hello.")
		must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "gpt-4o", Settings: &prompt.Settings{System: system}}))
	}
	for _, seq := range []int64{1, 2, turnstone.Head} {
		epoch := must(chat.Epoch(ctx, seq))
		fmt.Println(epoch.Number, epoch.Reason)
	}
	// Output:
	// 1 start
	// 1 start
	// 2 settings
}

// A pinned turn stays in every prompt, word for word, whatever leaves it.
func ExampleSession_Pin() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "Never ship on a Friday.", "Understood.")
	check(chat.Pin(ctx, 1))
	fmt.Println(must(chat.Pins(ctx)))
	longTalk(chat, 20)
	status := must(chat.Status(ctx, turnstone.PromptOptions{Model: "gpt-4o", Context: 8192}))
	fmt.Println(status.Shown < status.Turns, status.PinsHeld, "of", status.Pins)

	check(chat.Unpin(ctx, 1))
	fmt.Println(must(chat.Pins(ctx)))
	// Output:
	// [1]
	// true 1 of 1
	// []
}

// The status line of a chat program: how full the window is, and how far the prompt can be relied on.
func ExampleSession_Status() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	longTalk(chat, 20)
	s := must(chat.Status(ctx, turnstone.PromptOptions{Model: "gpt-4o", Context: 8192}))
	fmt.Println("fits:", s.Prompt.Count.Upper() < s.Prompt.Window.Usable)
	fmt.Println("reliability:", s.Reliability.Level)
	fmt.Println("compressions:", s.Passes)
	// Output:
	// fits: true
	// reliability: medium
	// compressions: 1
}

// What cannot be made to fit is not sent cut: the error says where every token would go.
func ExampleErrOverBudget() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, strings.Repeat("All of the novel, please. ", 2000))
	_, err := chat.Prompt(ctx, turnstone.PromptOptions{Model: "gpt-4o", Context: 8192})
	var over *budget.OverBudgetError
	if errors.Is(err, turnstone.ErrOverBudget) && errors.As(err, &over) {
		fmt.Println(over.Account.Total(), "tokens into", over.Account.Window.Usable)
	}
	// Output: 15069 tokens into 6963
}

// A model whose own vocabulary is known is counted exactly. llm/ollama reads it from the server.
func ExampleVocabulary() {
	ctx := context.Background()
	own := turnstone.Vocabulary(func(context.Context, string) (*bpe.Encoding, error) { return bpe.O200k(), nil })
	for _, vocabulary := range []turnstone.Vocabulary{nil, own} {
		eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Vocabulary: vocabulary}))
		chat := must(eng.Session(ctx, "alice"))
		talk(chat, strings.Repeat("How many tokens are these? ", 500))
		p := must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "llama3.2"}))
		fmt.Printf("give or take %.0f %%\n", 100*p.Count.Margin)
		check(eng.Close())
	}
	// Output:
	// give or take 20 %
	// give or take 1 %
}

// Counts become better by what providers report, and one that drops the front of a prompt is found out.
func ExampleSession_Reported() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, strings.Repeat("A long story. ", 1000))
	p := must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "gpt-4o"}))
	for _, counted := range []int{p.Count.Tokens, p.Count.Tokens / 3} {
		truncated := must(chat.Reported(ctx, p, llm.Usage{Prompt: counted}))
		fmt.Println("truncated:", truncated)
	}
	// Output:
	// truncated: false
	// truncated: true
}

// A reply that goes past the window is noticed while it comes.
func ExampleStream() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "Count.")
	p := must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "gpt-4o", Context: 8192}))
	reply := must(chat.Streaming(ctx, p))
	for n := 1; ; n++ {
		if overflow := must(reply.Add(ctx, fmt.Sprintf("%d, ", n))); overflow {
			fmt.Println(reply.Total() > p.Window.Usable)
			break
		}
	}
	// Output: true
}

// What was recalled stands at the end of the prompt, where it costs the beginning nothing.
func ExamplePromptOptions() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Create(ctx, turn.SessionInfo{Model: "gpt-4o"}))
	talk(chat, "What is my dog called?")
	p := must(chat.Prompt(ctx, turnstone.PromptOptions{Late: []string{"In March the user said: my dog is called Rex."}, Preview: true}))
	fmt.Println(strings.Contains(p.Late, "Rex"), len(must(chat.Prompts(ctx, 0, 10))))
	// Output: true 0
}
