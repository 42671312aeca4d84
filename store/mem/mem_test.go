package mem_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/storetest"
)

func TestStoreKeepsTheRulesOfTheSocket(t *testing.T) {
	storetest.Run(t, func(testing.TB) store.Store { return mem.New(mem.Config{}) })
}
