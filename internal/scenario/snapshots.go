package scenario

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/snapshot"
)

func (p *player) snapshot(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	taken, err := s.Snapshot(ctx, strings.Join(args[1:], " "))
	if err != nil {
		return "", err
	}
	return showSnapshot(&taken), nil
}

func (p *player) snapshots(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	list, err := s.Snapshots(ctx, "", 0)
	var out strings.Builder
	for i := range list {
		out.WriteString(showSnapshot(&list[i]))
	}
	return out.String(), err
}

// unsnapshot deletes the newest snapshot of a name that the session shows.
func (p *player) unsnapshot(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	list, err := s.Snapshots(ctx, "", 0)
	if err != nil {
		return "", err
	}
	id, name := "", strings.Join(args[1:], " ")
	for i := range list {
		if list[i].Name == name && id == "" {
			id = list[i].ID
		}
	}
	if err := s.DeleteSnapshot(ctx, id); err != nil {
		return "", err
	}
	return "deleted\n", nil
}

// back is what restores and undos compile for.
var back = turnstone.PromptOptions{Model: scenarioModel, Context: 2048}

func (p *player) restore(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	to, err := s.Restore(ctx, strings.Join(args[1:], " "), back)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("back to turn %d\n", to.Turn), nil
}

func (p *player) undo(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	if _, err := s.Undo(ctx, 0, back); err != nil {
		return "", err
	}
	return "undone\n", nil
}

// prompts lists the numbers of what was compiled, each with its last turn.
func (p *player) prompts(ctx context.Context, args []string) (string, error) {
	s, err := p.engine.Find(ctx, args[0])
	if err != nil {
		return "", err
	}
	list, err := s.Prompts(ctx, 0, 100)
	var out strings.Builder
	for i := range list {
		fmt.Fprintf(&out, "%d through turn %d\n", list[i].Number, list[i].End)
	}
	return out.String(), err
}

func (p *player) events(ctx context.Context, args []string) (string, error) {
	list, err := p.engine.Events(ctx, args[0], "", 100)
	var out strings.Builder
	for _, e := range list {
		fmt.Fprintf(&out, "%s\n", e.Kind)
	}
	return out.String(), err
}

func showSnapshot(s *snapshot.Snapshot) string {
	how := fmt.Sprintf("%q", s.Name)
	if s.Auto {
		how = "automatic"
	}
	tier := "no prompt yet"
	if s.Tier != 0 {
		tier = fmt.Sprintf("%d tokens for %s, %s", s.TokenCount, s.Model, s.Tier)
	}
	return fmt.Sprintf("%s of %s at turn %d: %d turns, epoch %d, %d checkpoints, %s\n", how, s.Session, s.Turn, s.MessageCount, s.Epoch, s.CheckpointCount, tier)
}
