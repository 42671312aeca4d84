//go:build !linux && !darwin

package terminal

// Ahead takes nothing here: what was typed ahead is read as keys, Enter among them.
func Ahead(any) (lines []string, restore func() error, err error) {
	return nil, func() error { return nil }, nil
}
