package snapshot_test

import (
	"errors"
	"math"
	"testing"

	"github.com/turnstone-dev/turnstone/snapshot"
)

func TestConfigDefaults(t *testing.T) {
	for given, want := range map[snapshot.Config]snapshot.Config{
		{}:                              {AutoThreshold: 0.80},
		{Off: true, NoAuto: true}:       {Off: true, NoAuto: true, AutoThreshold: 0.80},
		{AutoThreshold: 1}:              {AutoThreshold: 1},
		{Off: true, AutoThreshold: 0.1}: {Off: true, AutoThreshold: 0.1},
	} {
		if got, err := given.WithDefaults(); err != nil || got != want {
			t.Errorf("%+v: %+v, %v", given, got, err)
		}
	}
	for _, threshold := range []float64{-0.1, 1.01, 80, math.NaN(), math.Inf(1)} {
		_, err := snapshot.Config{AutoThreshold: threshold}.WithDefaults()
		var field *snapshot.FieldError
		if !errors.As(err, &field) || field.Name != "snapshots.autoThreshold" || field.Fix != "give one up to 1, or 0 for the default" {
			t.Errorf("%g: %v", threshold, err)
		}
	}
}

func TestAuto(t *testing.T) {
	for config, want := range map[snapshot.Config]bool{{}: true, {Off: true}: false, {NoAuto: true}: false, {Off: true, NoAuto: true}: false} {
		if config.Auto() != want {
			t.Errorf("%+v: %v", config, config.Auto())
		}
	}
}
