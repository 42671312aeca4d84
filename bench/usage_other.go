//go:build !linux

package main

import (
	"errors"
	"time"
)

type usage struct {
	cpu     time.Duration
	written int64
}

func (u usage) since(usage) usage { return u }

func (u *usage) add(usage) {}

func used() (usage, error) {
	return usage{}, errors.New("what a commit costs is measured on Linux only")
}
