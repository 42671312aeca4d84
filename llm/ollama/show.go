package ollama

import (
	"context"
	"encoding/json"
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

func (s *shown) read(d *json.Decoder) error {
	return members(d, "the answer", func(name string) (err error) {
		switch name {
		case "details":
			return s.readDetails(d)
		case "capabilities":
			s.capabilities, err = texts(d, name, maxCapabilities)
			return err
		case "model_info":
			return members(d, name, func(name string) error { return s.readInfo(d, name) })
		}
		return skip(d)
	})
}

func (s *shown) readDetails(d *json.Decoder) error {
	return members(d, "details", func(name string) (err error) {
		switch name {
		case "family":
			s.family, err = text(d, "details.family")
		case "quantization_level":
			s.quantization, err = text(d, "details.quantization_level")
		default:
			err = skip(d)
		}
		return err
	})
}

func (s *shown) readInfo(d *json.Decoder, name string) (err error) {
	v := &s.vocabulary
	switch name {
	case "general.architecture":
		s.architecture, err = text(d, name)
	case "general.parameter_count":
		s.parameters, err = whole(d, name, 64)
	case "tokenizer.ggml.model":
		v.Model, err = text(d, name)
	case "tokenizer.ggml.pre":
		v.Pre, err = text(d, name)
	case "tokenizer.ggml.tokens":
		v.Tokens, err = texts(d, name, maxTokens)
	case "tokenizer.ggml.merges":
		v.Merges, err = texts(d, name, maxMerges)
	case "tokenizer.ggml.token_type":
		v.Types = nil
		err = elements(d, name, maxTokens, func() error {
			n, err := whole(d, name, 32)
			v.Types = append(v.Types, int32(n))
			return err
		})
	case "tokenizer.ggml.scores":
		v.Scores = nil
		err = elements(d, name, maxTokens, func() error {
			n, err := number(d, name)
			if err != nil {
				return err
			}
			score, err := n.Float64()
			if err != nil {
				return unlike(name, "has a score that is no number of 64 bits")
			}
			v.Scores = append(v.Scores, float32(score))
			return nil
		})
	case "tokenizer.ggml.add_space_prefix":
		var set bool
		set, err = truth(d, name)
		s.spacePrefix = &set
	default:
		architecture, is := strings.CutSuffix(name, ".context_length")
		if !is || len(s.contexts) == maxContexts {
			return skip(d)
		}
		s.contexts[architecture], err = whole(d, name, 64)
	}
	return err
}

// texts reads an array of strings.
func texts(d *json.Decoder, field string, most int) ([]string, error) {
	var all []string
	err := elements(d, field, most, func() error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		s, is := token.(string)
		if !is {
			return unlike(field, "has "+what(token)+" among its strings")
		}
		all = append(all, s)
		return nil
	})
	return all, err
}
