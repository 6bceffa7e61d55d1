package rates

import "strings"

// Shape is the sizes of a published model. Heads have 64 numbers each.
type Shape struct {
	Name       string // of its repository on the Hugging Face hub, without the owner
	Layers     int    // of the encoder, and of the decoder
	Width      int
	FF         int
	Heads      int
	Vocabulary int
	Encoder    bool // it has no decoder
}

// BERT is the shape of the encoder of the paper's semantic identifiers.
const BERT = "bert_uncased_L-8_H-512_A-8"

// Shapes are the models whose rates are measured, the smallest first: the paper's.
func Shapes() []Shape {
	return []Shape{
		{Name: BERT, Layers: 8, Width: 512, FF: 2048, Heads: 8, Vocabulary: 30522, Encoder: true},
		{Name: "t5-efficient-tiny", Layers: 4, Width: 256, FF: 1024, Heads: 4, Vocabulary: 32128},
		{Name: "t5-small", Layers: 6, Width: 512, FF: 2048, Heads: 8, Vocabulary: 32128},
		{Name: "t5-base", Layers: 12, Width: 768, FF: 3072, Heads: 12, Vocabulary: 32128},
	}
}

// ShapeOf returns the name of the shape of a repository OWNER/NAME; "" if it is none of Shapes.
func ShapeOf(repository string) string {
	_, name, _ := strings.Cut(repository, "/")
	for _, s := range Shapes() {
		if s.Name == name {
			return name
		}
	}
	return ""
}

// Bytes returns the size of a file of the weights, without norms.
func (s Shape) Bytes() int64 {
	attention, feed := 4*s.Width*64*s.Heads, 2*s.Width*s.FF
	n := s.Layers*(attention+feed) + s.Vocabulary*s.Width
	if !s.Encoder {
		n += s.Layers * (2*attention + feed)
	}
	return 4 * int64(n)
}
