//go:build !linux

package resident

import "time"

func releaseProgram() error { return nil }

func processorTime() (time.Duration, bool) { return 0, false }
