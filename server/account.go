package server

import "github.com/turnstone-dev/turnstone/budget"

// Account is where every token of a prompt goes, as the server and the command show it.
type Account struct {
	Context   int           `json:"context" doc:"the size of the model's context"`
	Usable    int           `json:"usable"`
	Reserve   int           `json:"reserve" doc:"what is kept free for the reply"`
	Tokens    int           `json:"tokens"`
	Upper     int           `json:"upper" doc:"the tokens with the margin of their count"`
	Certainty string        `json:"certainty" enum:"exact,calibrated,estimated"`
	Margin    float64       `json:"margin"`
	Free      int           `json:"free"`
	Available int           `json:"available"`
	Tier      int           `json:"tier"`
	Parts     []accountPart `json:"parts"`
	Warnings  []string      `json:"warnings,omitempty"`
}

type accountPart struct {
	Part      string  `json:"part"`
	Tokens    int     `json:"tokens"`
	Share     int     `json:"share,omitempty" doc:"the most it may have"`
	Certainty string  `json:"certainty"`
	Margin    float64 `json:"margin,omitempty"`
}

// NewAccount is an account with the parts that have any tokens.
func NewAccount(a budget.Account) Account {
	count := a.Prompt()
	out := Account{
		Context: a.Window.Context, Usable: a.Window.Usable, Reserve: a.Window.Reserve, Tokens: count.Tokens, Upper: count.Upper(),
		Certainty: string(a.Certainty), Margin: a.Margin, Free: a.Free(), Available: a.Available(), Tier: int(a.Window.Tier()),
		Parts: []accountPart{}, Warnings: a.Warnings,
	}
	for _, line := range a.Lines {
		if line.Count.Tokens > 0 {
			out.Parts = append(out.Parts, accountPart{string(line.Part), line.Count.Tokens, line.Share, string(line.Count.Certainty), line.Count.Margin})
		}
	}
	return out
}
