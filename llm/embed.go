package llm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"
)

const (
	// embedTexts is how many texts are sent at once, embedBytes how much of each: less than every server takes whose
	// window is not smaller than that of a usual model.
	embedTexts = 64
	embedBytes = 8000
)

// Embed asks for the vectors of texts, some at a time. A long text is cut: what it means shows in its beginning. Servers
// refuse an empty one, so that a space stands for it. An *[Error] where the vectors are not as many as the texts, or not of
// one length.
func Embed(ctx context.Context, model string, texts []string, ask func(context.Context, []string) ([][]float32, error)) ([][]float32, error) {
	all := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, embedTexts) {
		sent := make([]string, len(batch))
		for i, text := range batch {
			sent[i] = cmp.Or(beginning(text, embedBytes), " ")
		}
		vectors, err := ask(ctx, sent)
		if err != nil {
			return nil, err
		}
		if len(vectors) != len(sent) {
			return nil, unlikeVectors(model, fmt.Sprintf("%d vectors came for %d texts", len(vectors), len(sent)))
		}
		all = append(all, vectors...)
	}
	for _, v := range all {
		if len(v) == 0 || len(v) != len(all[0]) {
			return nil, unlikeVectors(model, fmt.Sprintf("its vectors have %d and %d numbers", len(all[0]), len(v)))
		}
	}
	return all, nil
}

func unlikeVectors(model, problem string) error {
	return &Error{Kind: ErrFailed, Model: model, Problem: problem, Fix: "check that it is a model for embeddings"}
}

// beginning is at most so many bytes of a text, whole characters.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
