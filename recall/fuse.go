package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Embedder is a model that turns texts into vectors, whose angle says how much they mean the same.
type Embedder interface {
	// Embed returns a vector for each text, all of one length.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrEmbedder says that an embedder failed, and that hits are ranked by their words alone.
var ErrEmbedder = errors.New("ranked by words alone, since the embedder failed")

// rankConstant makes the first ranks of a list count little more than the next.
const rankConstant = 60

// Fuse orders hits anew by their rank among them and by their rank in what an embedder thinks of them, half
// each (reciprocal rank fusion). It asks the model, so it must not be called inside a transaction. Scores are
// replaced. The hits given are not changed.
func Fuse(ctx context.Context, e Embedder, query string, hits []Hit) ([]Hit, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	texts := []string{query}
	for _, h := range hits {
		texts = append(texts, h.Text)
	}
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("embed %d texts: %d vectors came back", len(texts), len(vectors))
	}
	likeness := make([]float64, len(hits))
	byMeaning := make([]int, len(hits))
	for i := range hits {
		byMeaning[i] = i
		if likeness[i], err = cosine(vectors[0], vectors[i+1]); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(byMeaning, func(a, b int) int { return cmp.Compare(likeness[b], likeness[a]) })
	fused := slices.Clone(hits)
	for i := range fused {
		fused[i].Score = 1 / float64(rankConstant+i)
	}
	for rank, i := range byMeaning {
		fused[i].Score += 1 / float64(rankConstant+rank)
	}
	slices.SortStableFunc(fused, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return fused, nil
}

// cosine of vectors of which one is zero is 0.
func cosine(a, b []float32) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("vectors of %d and %d numbers", len(a), len(b))
	}
	var product, squareA, squareB float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
		squareA += float64(a[i]) * float64(a[i])
		squareB += float64(b[i]) * float64(b[i])
	}
	if squareA == 0 || squareB == 0 {
		return 0, nil
	}
	return product / math.Sqrt(squareA*squareB), nil
}
