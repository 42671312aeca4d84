package main

import (
	"errors"
	"regexp"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// flagOf names the flags that fill fields of other names.
var flagOf = map[string]string{
	"add_milestones.description": "milestone", "add_milestones.status": "status", "add_milestones": "milestone",
	"add_decisions.rationale": "rationale", "add_artifacts.path": "path", "add_artifacts.type": "type", "add_artifacts.action": "action",
	"next_steps": "next", "add_evidence": "evidence", "due_at": "due", "goal_id": "goal", "requires_confirmation": "confirm",
	"context_refs": "ref", "tags": "tag", "expires_at": "expires",
	"order": "by", "min_importance": "min-importance", "daemon": "name",
}

var indexes = regexp.MustCompile(`\[\d+\]`)

// byFlag is an error about a field by the flag that fills it, where that has another name.
func byFlag(err error) error {
	var refused *turnstone.RefusedError
	if errors.As(err, &refused) {
		_, field, _ := strings.Cut(refused.Field, ".") // behind the place of the change
		told := &turnstone.RefusedError{Field: refused.Field}
		for _, reason := range refused.Reasons {
			if flag, ok := flagOf[indexes.ReplaceAllString(field, "")]; ok {
				reason = strings.Replace(reason, field+": ", flag+": ", 1)
			}
			told.Reasons = append(told.Reasons, reason)
		}
		return told
	}
	if field, ok := err.(*invalid.Field); ok {
		if flag, ok := flagOf[indexes.ReplaceAllString(field.Name, "")]; ok {
			return invalid.New(flag, field.Problem, field.Fix)
		}
	}
	return err
}
