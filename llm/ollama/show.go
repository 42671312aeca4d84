package ollama

import (
	"context"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

const showEndpoint = "/api/show"

const (
	maxTokens       = 1 << 20
	maxMerges       = 1 << 22
	maxCapabilities = 100
	maxContexts     = 100
)

// shown is what an answer of /api/show holds that we want.
type shown struct {
	family, quantization string
	capabilities         []string
	architecture         string
	parameters           int64
	contexts             map[string]int64 // by architecture
	vocabulary           bpe.Vocabulary
	spacePrefix          *bool // nil where nothing is said of it
}

// show asks for a model, with its vocabulary if verbose is set.
func (c *Client) show(ctx context.Context, model string, verbose bool) (*shown, error) {
	request := struct {
		Model   string `json:"model"`
		Verbose bool   `json:"verbose,omitempty"`
	}{model, verbose}
	limit := int64(maxAnswer)
	if verbose {
		limit = maxVerbose
	}
	s := &shown{contexts: map[string]int64{}}
	if err := c.ask(ctx, showEndpoint, model, request, limit, s.read); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *shown) read(r *reader) error {
	return r.members("the answer", func(name string) (err error) {
		switch name {
		case "details":
			return s.readDetails(r)
		case "capabilities":
			s.capabilities, err = texts(r, name, maxCapabilities)
			return err
		case "model_info":
			return r.members(name, func(name string) error { return s.readInfo(r, name) })
		}
		return r.skip()
	})
}

func (s *shown) readDetails(r *reader) error {
	return r.members("details", func(name string) (err error) {
		switch name {
		case "family":
			s.family, err = r.string("details.family")
		case "quantization_level":
			s.quantization, err = r.string("details.quantization_level")
		default:
			err = r.skip()
		}
		return err
	})
}

func (s *shown) readInfo(r *reader, name string) (err error) {
	v := &s.vocabulary
	switch name {
	case "general.architecture":
		s.architecture, err = r.string(name)
	case "general.parameter_count":
		s.parameters, err = r.whole(name, 64)
	case "tokenizer.ggml.model":
		v.Model, err = r.string(name)
	case "tokenizer.ggml.pre":
		v.Pre, err = r.string(name)
	case "tokenizer.ggml.tokens":
		v.Tokens, err = texts(r, name, maxTokens)
	case "tokenizer.ggml.merges":
		v.Merges, err = texts(r, name, maxMerges)
	case "tokenizer.ggml.token_type":
		v.Types = nil
		err = r.elements(name, maxTokens, func() error {
			n, err := r.whole(name, 32)
			v.Types = append(v.Types, int32(n))
			return err
		})
	case "tokenizer.ggml.scores":
		v.Scores = nil
		err = r.elements(name, maxTokens, func() error {
			n, err := r.number(name)
			if err != nil {
				return err
			}
			score, err := strconv.ParseFloat(n, 32)
			if err != nil {
				return unlike(name, "has a score that is no number of 32 bits")
			}
			v.Scores = append(v.Scores, float32(score))
			return nil
		})
	case "tokenizer.ggml.add_space_prefix":
		var set bool
		set, err = r.truth(name)
		s.spacePrefix = &set
	default:
		architecture, is := strings.CutSuffix(name, ".context_length")
		if !is || len(s.contexts) == maxContexts {
			return r.skip()
		}
		s.contexts[architecture], err = r.whole(name, 64)
	}
	return err
}

// texts reads an array of strings.
func texts(r *reader, field string, most int) ([]string, error) {
	var all []string
	err := r.elements(field, most, func() error {
		s, err := r.string(field)
		all = append(all, s)
		return err
	})
	return all, err
}
