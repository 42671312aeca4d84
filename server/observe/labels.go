package observe

import "sync"

const (
	// maxModels is how many models have a label of their own.
	maxModels = 100
	// otherModel is the label of all others.
	otherModel = "other"
)

// labels are the models that have a label of their own: the first that answered. Clients say which model they want, and
// what they make up must neither fill the memory nor be shown to everybody. It is safe for concurrent use.
type labels struct {
	mu    sync.Mutex // guards what follows
	named map[string]bool
}

// of is the label of a model, which may have answered just now.
func (l *labels) of(model string, answered bool) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if answered && !l.named[model] && len(l.named) < maxModels {
		if l.named == nil {
			l.named = make(map[string]bool)
		}
		l.named[model] = true
	}
	if l.named[model] {
		return model
	}
	return otherModel
}
