package ids

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// embedHashingConfig embeds texts without a model.
type embedHashingConfig struct {
	inout.Texts
	Dimensions int `hcl:"dimensions,optional" min:"1" help:"length of the vectors"`
	Words      int `hcl:"words,optional" min:"1" help:"words of each text that are read, from its start"`
}

var EmbedHashing = step.Define(step.Kind[embedHashingConfig]{
	Name:    "embed_hashing",
	Version: 2,
	Doc: `Embed each document or query by feature hashing of its words, without a model.
Each lower-cased word adds ±(1 + log count) at a hashed position; vectors have
unit length. A stand-in for embed where no weights are at hand. Cost: reading the
texts; memory is 4 bytes x documents x dimensions.`,
	Example: `step "embed_hashing" "title" {
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  documents = step.dedup.nq["title"].documents
}`,
	Outputs: []step.Output{{Name: "embeddings", Type: "docid/embeddings", Help: ".npy, float32, one row per document or query",
		Alike: step.Vectors{Margin: step.Margin{Rel: 1e-6}, Cosine: 1 - 1e-9}, Why: "a processor that multiplies and adds at once rounds a sum differently"}},
	Defaults: embedHashingConfig{Texts: inout.Texts{Split: "dev", Title: true}, Dimensions: 512, Words: 512},
	Check:    func(c embedHashingConfig) error { return c.Texts.Check().Err() },
	Run: func(ctx context.Context, x *step.IO, c embedHashingConfig) error {
		m := npy.Matrix{Cols: c.Dimensions}
		for text, err := range c.Texts.Each(x) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			m.Data = append(m.Data, hashWords(text, c.Words, c.Dimensions)...)
			m.Rows++
		}
		return inout.WriteVectors(x, m, c.Texts.Unit())
	},
})

// hashWords is the signed hashing trick over a text's first words.
func hashWords(text string, words, dimensions int) []float32 {
	counts := map[string]int{}
	var order []string // of first occurrence: sums must not depend on map order
	for w := range strings.FieldsFuncSeq(pytext.Lower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if words--; words < 0 {
			break
		}
		if counts[w]++; counts[w] == 1 {
			order = append(order, w)
		}
	}
	v := make([]float64, dimensions)
	for _, w := range order {
		h := fnv.New64a()
		h.Write([]byte(w))
		sum := h.Sum64()
		weight := 1 + math.Log(float64(counts[w]))
		if sum>>63 == 1 {
			weight = -weight
		}
		v[sum%uint64(dimensions)] += weight
	}
	norm := 0.0
	for _, a := range v {
		norm += a * a
	}
	out := make([]float32, dimensions)
	if norm == 0 {
		return out
	}
	for i, a := range v {
		out[i] = float32(a / math.Sqrt(norm))
	}
	return out
}
