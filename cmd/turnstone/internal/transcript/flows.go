package transcript

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/dialogue"
)

// AppendState appends the dialogue state of a revision to dst: the stack from its top down, then
// the flows set aside.
func (f Format) AppendState(dst []byte, rev dialogue.Revision) []byte {
	head := fmt.Sprintf("revision %d, after turn %d, %s", rev.Number, rev.AfterSeq, f.Time(rev.At))
	dst = append(dst, f.Style.Dim(head)...)
	dst = append(dst, '\n')
	if len(rev.State.Stack) == 0 {
		dst = append(dst, "no flow on the stack\n"...)
	}
	for i := len(rev.State.Stack) - 1; i >= 0; i-- {
		dst = f.AppendFlow(dst, rev.State.Stack[i])
	}
	for _, flow := range rev.State.SetAside {
		dst = append(dst, "set aside: "...)
		dst = f.AppendFlow(dst, flow)
	}
	return dst
}

// AppendFlow appends one flow: a line for it and a line for each of its slots.
func (f Format) AppendFlow(dst []byte, flow dialogue.Flow) []byte {
	parts := []string{f.status(flow.Status), f.Style.Strong(terminal.CleanLine(flow.Name)), f.Style.Dim(terminal.CleanLine(flow.ID))}
	for _, p := range []struct{ name, value string }{
		{"stage", flow.Stage}, {"step of", flow.PlanID}, {"result", string(flow.Result)},
	} {
		if p.value != "" {
			parts = append(parts, p.name+" "+terminal.CleanLine(p.value))
		}
	}
	if n := len(flow.TurnIDs); n > 0 {
		parts = append(parts, fmt.Sprintf("turns %d", n))
	}
	dst = append(dst, strings.Join(parts, "  ")...)
	dst = append(dst, '\n')
	width := 0
	for _, s := range flow.Slots {
		width = max(width, utf8.RuneCountInString(terminal.CleanLine(s.Name)))
	}
	for _, s := range flow.Slots {
		value := "(unfilled)"
		if s.Filled() {
			value = terminal.CleanLine(string(s.Value))
		}
		line := fmt.Sprintf("    %-*s  %-7s  %s", width, terminal.CleanLine(s.Name), s.Type, value)
		if s.FilledBy != "" {
			line += "  " + f.Style.Dim("turn "+terminal.CleanLine(s.FilledBy))
		}
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return dst
}

// status is padded before it is painted, so that columns stay where they are.
func (f Format) status(s dialogue.Status) string {
	text := fmt.Sprintf("%-9s", s)
	switch s {
	case dialogue.Active:
		return f.Style.Good(text)
	case dialogue.Invalid:
		return f.Style.Alarm(text)
	case dialogue.Completed:
		return f.Style.Accent(text)
	}
	return text
}
