package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	service "github.com/turnstone-dev/turnstone/server"
)

// account is one of a window of 1,000 tokens, 150 of them for the reply.
func account(margin float64, lines ...budget.Line) budget.Account {
	return budget.Account{
		Window: budget.Window{Context: 1176, Usable: 1000, Reserve: 150}, Certainty: budget.Estimated, Margin: margin,
		Lines: append(lines, budget.Line{Part: budget.Reserve, Count: budget.Count{Tokens: 150, Certainty: budget.Exact}, Share: 150}),
	}
}

func line(part budget.Part, tokens, share int) budget.Line {
	return budget.Line{Part: part, Count: budget.Count{Tokens: tokens, Certainty: budget.Estimated, Margin: 0.125}, Share: share}
}

func TestAccountLines(t *testing.T) {
	for _, test := range []struct {
		name    string
		account budget.Account
		want    string
	}{
		{"fits", account(0.1, line(budget.System, 100, 150), line(budget.Tools, 0, 150), line(budget.Goal, 1, 150), line(budget.Recent, 399, 500)), `
[ssssssgrrrrrrrrrrrrrrrrrrrrrrrrr+++==========...................]
    PART                          TOKENS   SHARE  AT MOST  CERTAINTY
s   system prompt and template       100   10.0%      150  estimated, +-12.5%
g   goal block                         1    0.1%      150  estimated, +-12.5%
r   recent turns                     399   39.9%      500  estimated, +-12.5%
+   margin of the count               50    5.0%
=   reply reserve                    150   15.0%
.   free                             300   30.0%
[]  usable of a context of 1,176   1,000  100.0%
`},
		{"full", account(0, line(budget.Pins, 850, 0)), `
[pppppppppppppppppppppppppppppppppppppppppppppppppppppp==========]
    PART                          TOKENS   SHARE  AT MOST  CERTAINTY
p   pins                             850   85.0%           estimated, +-12.5%
=   reply reserve                    150   15.0%
[]  usable of a context of 1,176   1,000  100.0%
`},
		{"over", account(0, line(budget.System, 1000, 150), line(budget.Late, 850, 30)), `
[ssssssssssssssssssssssssssssssss|lllllllllllllllllllllllllll=====]
    PART                          TOKENS   SHARE  AT MOST  CERTAINTY
s   system prompt and template     1,000  100.0%      150  estimated, +-12.5%
l   late block                       850   85.0%       30  estimated, +-12.5%
=   reply reserve                    150   15.0%
|   over the window by             1,000  100.0%
[]  usable of a context of 1,176   1,000  100.0%
`},
		{"what is no part", account(0, line("appendix", 425, 0)), `
[ooooooooooooooooooooooooooo==========...........................]
    PART                          TOKENS   SHARE  AT MOST  CERTAINTY
o   appendix                         425   42.5%           estimated, +-12.5%
=   reply reserve                    150   15.0%
.   free                             425   42.5%
[]  usable of a context of 1,176   1,000  100.0%
`},
	} {
		lines := accountLines(test.account, terminal.Style{})
		if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), strings.Join(lines, "\n")+"\n"); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if bar := strings.Trim(strings.Replace(lines[0], "|", "", 1), "[]"); len(bar) != barWidth {
			t.Errorf("%s: the bar is %d wide", test.name, len(bar))
		}
	}
}

func TestAccountIsPainted(t *testing.T) {
	lines := accountLines(account(0.1, line(budget.System, 500, 150), line(budget.Pins, 200, 0), line(budget.Recent, 400, 0)), terminal.Colours())
	for _, want := range []string{"\x1b[33msss", "\x1b[32mppp", "\x1b[36mrrr", "\x1b[31m|\x1b[0m", "\x1b[31m==="} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("%q is not in %q", want, lines[0])
		}
	}
}

func TestCertainty(t *testing.T) {
	for want, count := range map[string]budget.Count{
		"exact":              {Certainty: budget.Exact},
		"calibrated, +-3.5%": {Certainty: budget.Calibrated, Margin: 0.0349},
		"estimated, +-100%":  {Certainty: budget.Estimated, Margin: 1},
	} {
		if got := certainty(count); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAccountJSON(t *testing.T) {
	got, err := encodeJSON(service.NewAccount(account(0.1, line(budget.System, 100, 150), line(budget.Goal, 0, 150))))
	const want = `{"context":1176,"usable":1000,"reserve":150,"tokens":100,"upper":110,"certainty":"estimated","margin":0.1,` +
		`"free":740,"available":740,"tier":1,"parts":[{"part":"system prompt","tokens":100,"share":150,"certainty":"estimated","margin":0.125},` +
		`{"part":"reply reserve","tokens":150,"share":150,"certainty":"exact"}]}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}
