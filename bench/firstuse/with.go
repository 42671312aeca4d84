//go:build !without

package main

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

func count(encoding string) (int, error) {
	switch encoding {
	case "o200k_base":
		return bpe.O200k().Count("hello world"), nil
	case "cl100k_base":
		return bpe.Cl100k().Count("hello world"), nil
	}
	return 0, fmt.Errorf("no encoding %q", encoding)
}
