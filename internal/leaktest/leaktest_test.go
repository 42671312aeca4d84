package leaktest_test

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/turnstone-dev/turnstone/internal/leaktest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

// A goroutine that ends late is waited for.
func TestNone(t *testing.T) {
	before := goleak.IgnoreCurrent()
	end := make(chan struct{})
	go func() { <-end }()
	if goleak.Find(before) == nil {
		t.Fatal("it is not seen")
	}
	time.AfterFunc(time.Second, func() { close(end) })
	leaktest.None(t, before)
	select {
	case <-end:
	default:
		t.Error("it was not waited for")
	}
}
