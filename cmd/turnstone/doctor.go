package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
)

// errFindings says that the doctor found something.
var errFindings = errors.New("the store breaks its own rules")

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Hold the store against every rule and say what is wrong",
		Long: `Read the whole store, all tenants, and print a line for every rule that something in it breaks.
Nothing is changed. With --json the last line is the report: what was looked at and how much was
found.`,
		Example: "  turnstone doctor\n  turnstone doctor --json",
		Args:    arguments(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

type findingJSON struct {
	Table   string `json:"table"`
	Tenant  string `json:"tenant,omitempty"`
	Session string `json:"session_id,omitempty"`
	Problem string `json:"problem"`
}

type reportJSON struct {
	Sessions int64 `json:"sessions"`
	Turns    int64 `json:"turns"`
	Blobs    int64 `json:"blobs"`
	Findings int64 `json:"findings"`
}

func (a *app) doctor(ctx context.Context) (err error) {
	st, err := a.openStore(ctx, toUse)
	if errors.Is(err, store.ErrCorrupt) {
		// A store's own words would send to the doctor.
		return &reworded{err: err, text: "the store is so damaged that it cannot be opened, and nothing of it can be looked at; go back to a backup"}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	bar := a.bar(progress.Config{Label: "doctor", Unit: "turns"})
	var printing error
	found := func(f doctor.Finding) {
		bar.Clear()
		if printing == nil {
			printing = a.printFinding(f)
		}
	}
	report, err := doctor.Examine(ctx, st, found, bar.Set)
	bar.Clear()
	if err := errors.Join(err, printing); err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(reportJSON(report)); err != nil {
			return err
		}
	}
	if report.Findings > 0 {
		return fmt.Errorf("%w: %s", errFindings, progress.Count(report.Findings, "finding"))
	}
	if !a.json {
		return a.printf("healthy: %s, %s", progress.Count(report.Sessions, "session"), progress.Count(report.Turns, "turn"))
	}
	return nil
}

func (a *app) printFinding(f doctor.Finding) error {
	if a.json {
		return a.printJSON(findingJSON(f))
	}
	if err := a.printf("%s", terminal.CleanLine(f.String())); err != nil {
		return err
	}
	return a.out.Flush()
}
