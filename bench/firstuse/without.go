//go:build without

package main

import "fmt"

func count(encoding string) (int, error) {
	return 0, fmt.Errorf("no encoding %q", encoding)
}
