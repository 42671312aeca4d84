// Command firstuse prints how many milliseconds the first count with an encoding takes, which is
// only to be had in a process that has done nothing else. Built with the tag "without" it lacks
// the encodings, so that the sizes of the two show what they cost.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	start := time.Now()
	n, err := count(os.Args[len(os.Args)-1])
	took := time.Since(start)
	if err != nil {
		fmt.Fprintln(os.Stderr, "firstuse:", err)
		os.Exit(1)
	}
	if n != 2 {
		fmt.Fprintf(os.Stderr, "firstuse: counted %d tokens, want 2\n", n)
		os.Exit(1)
	}
	fmt.Println(took.Seconds() * 1000)
}
