package main

import "io"

// output is standard output. Its errors are told from those of stores and files.
type output struct{ w io.Writer }

func (o output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		err = &outputError{err}
	}
	return n, err
}

// outputError says that standard output took no more.
type outputError struct{ err error }

func (e *outputError) Error() string {
	return "standard output could not be written: " + e.err.Error() + "; see where it goes"
}
