package bpe

import (
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Vocabulary is what a model's file says of its tokenizer, in the words of GGUF metadata.
type Vocabulary struct {
	// Model is tokenizer.ggml.model: "gpt2" for byte pair encoding of bytes with a list of
	// merges, "llama" for SentencePiece with a score for every token.
	Model string
	// Pre is tokenizer.ggml.pre, the rule by which "gpt2" splits text. "llama" has none.
	Pre string
	// Tokens is tokenizer.ggml.tokens; a token's place is its number.
	Tokens []string
	// Types is tokenizer.ggml.token_type: 1 normal, 2 unknown, 3 control, 4 added by the
	// model's maker, 5 unused, 6 byte. Empty means that all are normal, and that the bytes of
	// "llama" are known by their names.
	Types []int32
	// Merges is tokenizer.ggml.merges, "left right" each, the first to be joined first. "llama"
	// has none.
	Merges []string
	// Scores is tokenizer.ggml.scores; the neighbours with the highest are joined first. "gpt2"
	// has none.
	Scores []float32
	// AddSpacePrefix is tokenizer.ggml.add_space_prefix: "llama" puts a space before the text.
	AddSpacePrefix bool
}

// ErrUnknownPre says that nothing is known about how a vocabulary's text is split, so that exact
// counts cannot be had of it. Errors of New wrap it with the name.
var ErrUnknownPre = errors.New("unknown pre-tokenizer")

// Bounds of a vocabulary, which keep one that lies from costing more than seconds and some hundred
// megabytes. What models have today is half of each or less.
const (
	maxTokens = 1 << idBits
	maxPairs  = 1 << 22  // rankBits has room for it
	maxToken  = 512      // bytes of a token as it is written
	maxText   = 16 << 20 // bytes of all of them
)

// Types of tokens.
const (
	typeNormal  = 1
	typeUnknown = 2
	typeControl = 3
	typeAdded   = 4
	typeByte    = 6
)

// New returns the encoding of a local model. A vocabulary that cannot be right is refused with
// an error that names the field; one whose Pre is not known, with ErrUnknownPre. New keeps
// nothing of v, and needs memory in proportion to it.
func New(v Vocabulary) (*Encoding, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	switch v.Model {
	case "gpt2":
		return v.byteLevel()
	case "llama":
		return v.sentencePiece()
	}
	return nil, invalid.New("model", fmt.Sprintf("%q is not a tokenizer", v.Model), "use gpt2 or llama")
}

// check refuses what would be wrong for any model.
func (v *Vocabulary) check() error {
	n := len(v.Tokens)
	switch {
	case n == 0:
		return invalid.New("tokens", "there are none", "send the vocabulary's tokens")
	case n > maxTokens:
		return invalid.New("tokens", fmt.Sprintf("there are %d of them", n), fmt.Sprintf("at most %d are allowed", maxTokens))
	case len(v.Merges) > maxPairs:
		return invalid.New("merges", fmt.Sprintf("there are %d of them", len(v.Merges)), fmt.Sprintf("at most %d are allowed", maxPairs))
	case len(v.Types) != 0 && len(v.Types) != n:
		return invalid.New("token_type", fmt.Sprintf("there are %d for %d tokens", len(v.Types), n), "send one for each token")
	}
	size := 0
	for i, t := range v.Tokens {
		if len(t) > maxToken {
			return invalid.New(fmt.Sprintf("tokens[%d]", i), fmt.Sprintf("is %d bytes long", len(t)), fmt.Sprintf("at most %d are allowed", maxToken))
		}
		size += len(t)
	}
	if size > maxText {
		return invalid.New("tokens", fmt.Sprintf("they are %d bytes long in all", size), fmt.Sprintf("at most %d are allowed", maxText))
	}
	return nil
}

// typeOf is the type of a token by its number.
func (v *Vocabulary) typeOf(id int) int32 {
	if len(v.Types) == 0 {
		return typeNormal
	}
	return v.Types[id]
}

// token is a token in the bytes that it stands for.
type token struct {
	text string
	id   uint32
}

// added returns the tokens that are taken out of a text before it is split.
func (v *Vocabulary) added(read func(string) string) []token {
	var tokens []token
	seen := map[string]bool{}
	for i, t := range v.Tokens {
		text := read(t)
		if v.typeOf(i) != typeAdded || text == "" || seen[text] {
			continue
		}
		seen[text] = true
		tokens = append(tokens, token{text, uint32(i)})
	}
	return tokens
}

// missingByte names a byte of valid UTF-8 for which there is no token.
func missingByte(have *[256]bool) error {
	for b, ok := range have {
		// These are in no valid text, and some vocabularies leave them out.
		never := b == 0xC0 || b == 0xC1 || b >= 0xF5
		if !ok && !never {
			return invalid.New("tokens", fmt.Sprintf("byte 0x%02X has no token", b), "send a vocabulary that covers every byte")
		}
	}
	return nil
}

// settle fills whole with those of the tokens that encoding their own text gives; the rest can
// only be reached in other surroundings.
func (e *Encoding) settle(tokens []token) {
	e.whole = tabulate(nil)
	sound := tokens[:0:0]
	var ids []uint32
	for _, t := range tokens {
		if ids = e.Append(ids[:0], t.text); len(ids) == 1 && ids[0] == t.id {
			sound = append(sound, t)
		}
	}
	e.whole = tabulate(sound)
}

func tabulate(tokens []token) *words {
	w := newWords(len(tokens), 8*len(tokens))
	w.ids = make([]uint32, 0, len(tokens))
	for _, t := range tokens {
		w.add(nil, []byte(t.text))
		w.ids = append(w.ids, t.id)
	}
	return w.index()
}
