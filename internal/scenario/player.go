package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/turn"
)

type player struct {
	engine *turnstone.Engine
	store  store.Store
	clock  *Clock
	leases map[string]*turnstone.Lease
	last   string         // export of the last commit
	sent   *prompt.Prompt // the last one compiled
}

// errScript marks a mistake in the transcript, as opposed to an answer of the engine.
var errScript = errors.New("not a command")

type command struct {
	usage string
	least int // words that must follow the name
	run   func(p *player, ctx context.Context, args []string) (string, error)
}

func (p *player) run(ctx context.Context, line string) (string, error) {
	words := fields(line)
	if len(words) == 0 {
		return "", fmt.Errorf("%w: empty line", errScript)
	}
	c, ok := commands[words[0]]
	if !ok || len(words)-1 < c.least {
		return "", fmt.Errorf("%w: %q; usage: %s", errScript, line, c.usage)
	}
	answer, err := c.run(p, ctx, words[1:])
	if errors.Is(err, errScript) {
		return "", err
	}
	if err != nil {
		answer += "error: " + err.Error() + "\n"
	}
	return answer, nil
}

var commands = map[string]command{
	"create":    {"create SESSION", 1, (*player).create},
	"sessions":  {"sessions", 0, (*player).sessions},
	"tenant":    {"tenant NAME", 1, (*player).tenant},
	"clock":     {"clock DURATION", 1, (*player).advance},
	"say":       {"say SESSION ROLE \"TEXT", 3, (*player).say},
	"append":    {"append SESSION ROLE FORM [key=K] [message=M] JSON", 4, (*player).append},
	"summary":   {"summary SESSION FROM TO \"TEXT", 4, (*player).summary},
	"window":    {"window SESSION", 1, (*player).window},
	"history":   {"history SESSION N [system] [at=N]", 2, (*player).history},
	"query":     {"query SESSION [field=value…]", 1, (*player).query},
	"fork":      {"fork SESSION AT NEW", 3, (*player).fork},
	"bookmark":  {"bookmark SESSION NAME AT", 3, (*player).bookmark},
	"acquire":   {"acquire SESSION AS", 2, (*player).acquire},
	"held":      {"held AS ROLE \"TEXT", 3, (*player).held},
	"release":   {"release AS", 1, (*player).release},
	"end":       {"end SESSION", 1, (*player).end},
	"flow":      {"flow SESSION OP …", 2, (*player).flow},
	"state":     {"state SESSION [AT]", 1, (*player).state},
	"completed": {"completed SESSION", 1, (*player).completed},
	"light":     {"light JSON", 1, (*player).light},
	"copy":      {"copy SESSION NEW", 2, (*player).copy},
	"doctor":    {"doctor", 0, (*player).doctor},

	"commit":     {"commit SESSION JSON", 2, (*player).commit},
	"answer":     {"answer SESSION SEQ TEXT", 3, (*player).answer},
	"export":     {"export", 0, (*player).export},
	"goals":      {"goals SESSION", 1, (*player).goals},
	"intend":     {"intend SESSION JSON", 2, (*player).intend},
	"notes":      {"notes SESSION", 1, (*player).notes},
	"remembered": {"remembered SESSION|* [\"WORDS]", 1, (*player).remembered},
	"digest":     {"digest SESSION", 1, (*player).digest},
	"sweep":      {"sweep", 0, (*player).sweep},

	"prompt":   {"prompt SESSION [system=TEXT] [late=TEXT] [context=N]", 1, (*player).prompt},
	"promptat": {"promptat SESSION N", 2, (*player).promptAt},
	"pin":      {"pin SESSION [N|-N…]", 1, (*player).pin},
	"reported": {"reported SESSION TOKENS", 2, (*player).reported},
	"status":   {"status SESSION", 1, (*player).status},

	"snapshot":   {"snapshot SESSION [NAME]", 1, (*player).snapshot},
	"snapshots":  {"snapshots SESSION", 1, (*player).snapshots},
	"unsnapshot": {"unsnapshot SESSION NAME", 2, (*player).unsnapshot},
	"restore":    {"restore SESSION NAME", 2, (*player).restore},
	"undo":       {"undo SESSION", 1, (*player).undo},
	"prompts":    {"prompts SESSION", 1, (*player).prompts},
	"events":     {"events SESSION", 1, (*player).events},
}

func (p *player) create(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: args[0]}})
	if err != nil {
		return "", err
	}
	return "created " + s.ID() + "\n", nil
}

func (p *player) sessions(ctx context.Context, _ []string) (string, error) {
	list, err := p.engine.Sessions(ctx, turn.SessionFilter{})
	var out strings.Builder
	for _, s := range list {
		fmt.Fprintf(&out, "%s %s, %d turns", s.Session, s.Status, s.Head)
		if s.Parent != "" {
			fmt.Fprintf(&out, ", forked from %s after %d", s.Parent, s.ForkSeq)
		}
		fmt.Fprintf(&out, ", last active %s\n", s.LastActivity.Format(time.TimeOnly))
	}
	return out.String(), err
}

func (p *player) tenant(_ context.Context, args []string) (string, error) {
	eng, err := p.engine.ForTenant(args[0])
	if err != nil {
		return "", err
	}
	p.engine = eng
	return "", nil
}

func (p *player) advance(_ context.Context, args []string) (string, error) {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return "", fmt.Errorf("%w: %v", errScript, err)
	}
	p.clock.Advance(d)
	return "", nil
}

func (p *player) light(ctx context.Context, args []string) (string, error) {
	return string(p.engine.Light(ctx, []byte(args[0]))) + "\n", nil
}

// copy exports a session and imports it under another name.
func (p *player) copy(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	var bundle strings.Builder
	if _, err := s.WriteBundle(ctx, &bundle, replay.WriteOptions{}); err != nil {
		return "", err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return "", err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(bundle.String())), nil }
	got, err := replay.Import(ctx, p.store, open, replay.ImportOptions{Tenant: info.Tenant, As: args[1]})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s holds %d turns\n", got.Session, got.Head), nil
}

func (p *player) doctor(ctx context.Context, _ []string) (string, error) {
	var out strings.Builder
	r, err := doctor.Examine(ctx, p.store, func(f doctor.Finding) { fmt.Fprintln(&out, f) }, nil)
	fmt.Fprintf(&out, "%d sessions, %d turns, %d findings\n", r.Sessions, r.Turns, r.Findings)
	return out.String(), err
}

func (p *player) completed(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	flows, err := s.CompletedFlows(ctx)
	return strings.Join(flows, " ") + "\n", err
}

func (p *player) state(ctx context.Context, args []string) (string, error) {
	at := turnstone.Head
	if len(args) > 1 {
		n, err := number(args[1])
		if err != nil {
			return "", err
		}
		at = n
	}
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	rev, err := s.State(ctx, at)
	if err != nil {
		return "", err
	}
	return describe(rev), nil
}

func describe(rev dialogue.Revision) string {
	var out strings.Builder
	fmt.Fprintf(&out, "revision %d after turn %d\n", rev.Number, rev.AfterSeq)
	for i := len(rev.State.Stack) - 1; i >= 0; i-- {
		f := rev.State.Stack[i]
		fmt.Fprintf(&out, "  %s %s (%s), %d turns", f.Status, f.Name, f.ID, len(f.TurnIDs))
		for _, s := range f.Slots {
			fmt.Fprintf(&out, ", %s=%s", s.Name, s.Value)
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

func number(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is no number", errScript, s)
	}
	return n, nil
}
