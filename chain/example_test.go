package chain_test

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/chain"
)

// Two clients say the same. The one that calls its session by a name is found by that name only.
func ExampleApart() {
	hello := chain.Message{Role: "user", Text: "Hello!"}
	unnamed := chain.Next(chain.Hash{}, hello)
	named := chain.Next(chain.Apart(chain.Hash{}, "session", "alice"), hello)
	fmt.Println(named == unnamed, named == chain.Next(chain.Apart(chain.Hash{}, "session", "alice"), hello))
	// Output: false true
}
