package replay_test

import (
	"os"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/leaktest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }
