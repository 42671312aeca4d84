package budget

import "github.com/turnstone-dev/turnstone/budget/bpe"

// CountsLike reports whether the other counter's tallies mean the same.
func (c *Counter) CountsLike(o *Counter) bool { return c.enc == o.enc && c.exact == o.exact }

// Uses reports whether it is the vocabulary that the counter counts with.
func (c *Counter) Uses(enc *bpe.Encoding) bool { return c.enc == enc }
