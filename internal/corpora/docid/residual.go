package docid

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/system/lists"
)

// FirstResidualToken is the first token that the embedding of a T5 checkpoint has no row for.
const FirstResidualToken = 32_128

// ResidualOptions are the choices of residual quantization. Every k-means has scikit-learn's defaults.
type ResidualOptions struct {
	Levels     int             // codes of a document
	Codes      int             // of a level
	FirstToken int32           // of the codes: the rows of the model's embedding before added tokens
	EOS        int32           // </s>, which ends every identifier
	Seed       uint32          // random_state of every level's k-means
	Threads    int             // all processors; no effect on the result
	Progress   func(level int) // levels done; may be nil
}

// Quantization says how well codes represent vectors.
type Quantization struct {
	Levels []QuantizationLevel `json:"levels"`

	Colliding    int `json:"colliding_documents"` // documents with the same codes as another
	Collisions   int `json:"collisions"`          // sequences of codes with several documents
	LargestGroup int `json:"largest_group"`       // documents of one sequence
}

// QuantizationLevel is one codebook.
type QuantizationLevel struct {
	Codes        int     `json:"codes"`         // used by a document
	SquaredError float64 `json:"squared_error"` // mean |vector - sum of its centres up to this level|²
}

// Residual gives every document codes of residual quantization, as TIGER does with an RQ-VAE but with codebooks by
// k-means: level 0 clusters the vectors (row i is document i), each further level the remainders; a code is the nearest
// centre. Documents with equal codes get one more token, their place in document order. Code c of level l is the token
// FirstToken + l*Codes + c, place p is FirstToken + Levels*Codes + p. Codes are numbered, without gaps, by first
// occurrence.
func Residual(ctx context.Context, documents []string, vectors npy.Matrix, o ResidualOptions) (*Set, *Quantization, error) {
	if last := float64(o.FirstToken) + float64(o.Levels)*float64(o.Codes) + float64(len(documents)); last > math.MaxInt32 {
		return nil, nil, fmt.Errorf("residual identifiers: %d levels of %d codes from token %d do not fit 31 bits", o.Levels, o.Codes, o.FirstToken)
	}
	if err := checkVectors(KindResidual, documents, vectors); err != nil {
		return nil, nil, err
	}
	codes, q, err := quantize(ctx, vectors, o)
	if err != nil {
		return nil, nil, fmt.Errorf("residual identifiers: %w", err)
	}
	groups := map[string]int{} // documents by their codes
	for _, c := range codes {
		groups[spell(c)]++
	}
	for _, n := range groups {
		if n > 1 {
			q.Collisions++
			q.Colliding += n
		}
		q.LargestGroup = max(q.LargestGroup, n)
	}
	met := map[string]int{}
	texts, tokens := make([]string, len(codes)), make([][]int32, len(codes))
	for i, c := range codes {
		if key := spell(c); groups[key] > 1 {
			c = append(c, met[key])
			met[key]++
		}
		texts[i] = spell(c)
		for level, code := range c {
			tokens[i] = append(tokens[i], o.FirstToken+int32(level*o.Codes+code))
		}
		tokens[i] = append(tokens[i], o.EOS)
	}
	s, err := newSet(KindResidual, documents, texts, func([]string) [][]int32 { return tokens })
	return s, q, err
}

// quantize finds the codes of every vector, level by level.
func quantize(ctx context.Context, vectors npy.Matrix, o ResidualOptions) ([][]int, *Quantization, error) {
	codes, q := make([][]int, vectors.Rows), &Quantization{}
	left := npy.Matrix{Data: slices.Clone(vectors.Data), Rows: vectors.Rows, Cols: vectors.Cols}
	workspace := new(kmeans.Workspace)
	for level := 0; level < o.Levels && vectors.Rows > 0; level++ {
		fit, err := workspace.FitRows(ctx, left, nil, kmeans.Options{Clusters: min(o.Codes, left.Rows), Seed: o.Seed, Threads: o.Threads})
		if err != nil {
			return nil, nil, fmt.Errorf("level %d: %w", level, err)
		}
		number, squares := map[int32]int{}, 0.0
		for i, label := range fit.Labels {
			if _, ok := number[label]; !ok {
				number[label] = len(number)
			}
			codes[i] = append(codes[i], number[label])
			centre, row := fit.Centres.Row(int(label)), left.Row(i)
			for j := range row {
				row[j] -= centre[j]
				squares += float64(float64(row[j]) * float64(row[j])) // rounded, on every processor
			}
		}
		q.Levels = append(q.Levels, QuantizationLevel{Codes: len(number), SquaredError: squares / float64(left.Rows)})
		if o.Progress != nil {
			o.Progress(level + 1)
		}
	}
	return codes, q, nil
}

// spell writes codes as "3-0-141".
func spell(codes []int) string { return strings.Join(lists.Map(codes, strconv.Itoa), "-") }
