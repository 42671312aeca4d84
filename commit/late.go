package commit

import "slices"

// Late returns the ids of the turns that an export, of which the body is given, tells of, if it was made before the log took them:
// where they stand is then not where its row says.
func Late(body string) (turnIDs []string, late bool, err error) {
	o, err := outboxedFields.Decode(body)
	if err != nil || !slices.Contains(o.inline, string(History)) {
		return nil, false, err
	}
	return o.export.TurnIDs, true, nil
}
