package dialogue

import "time"

// lightEntry is a LightContext that shares no memory with any caller: strings are held by value, and
// its own list of fields is never handed out.
type lightEntry struct {
	key           LightKey
	expires       time.Time
	before, after *lightEntry

	texts  lightTexts
	given  [3]bool
	fields []string
}

// lightTexts are last_intent, last_task_id and last_user_message.
type lightTexts [3]string

func (e *lightEntry) over(now time.Time) bool { return !now.Before(e.expires) }

func (e *lightEntry) set(c LightContext) {
	for i, p := range [...]*string{c.LastIntent, c.LastTaskID, c.LastUserMessage} {
		e.texts[i], e.given[i] = "", p != nil
		if p != nil {
			e.texts[i] = *p
		}
	}
	clear(e.fields) // what is not overwritten must not be kept alive
	e.fields = append(e.fields[:0], c.PendingFields...)
}

func (e *lightEntry) context() LightContext {
	texts := e.texts // one allocation for all three
	c := LightContext{PendingFields: append([]string{}, e.fields...)}
	for i, p := range [...]**string{&c.LastIntent, &c.LastTaskID, &c.LastUserMessage} {
		if e.given[i] {
			*p = &texts[i]
		}
	}
	return c
}
