package roofline

import (
	"encoding/json"
	"fmt"
)

// Model is the sizes of an encoder-decoder, or of an encoder (Decoder 0).
type Model struct {
	Vocabulary int64 `json:"vocabulary"` // rows of the embedding
	Width      int64 `json:"width"`
	Inner      int64 `json:"inner"` // heads together
	Heads      int64 `json:"heads"`
	FF         int64 `json:"ff"`
	Encoder    int64 `json:"encoder"` // layers
	Decoder    int64 `json:"decoder"`
	Gated      bool  `json:"gated,omitempty"`  // the feed-forward layer has three matrices
	Untied     bool  `json:"untied,omitempty"` // the output matrix is not the embedding
	Positions  int64 `json:"positions,omitempty"`
}

// The models of the paper.
func t5(width, ff, heads, layers int64) Model {
	return Model{Vocabulary: 32128, Width: width, Inner: heads * 64, Heads: heads, FF: ff, Encoder: layers, Decoder: layers}
}

// Tiny, Small and Base are the paper's T5 Efficient Tiny, T5-Small and T5-Base; BERT is the
// encoder of its semantic identifiers, google/bert_uncased_L-8_H-512_A-8.
func Tiny() Model  { return t5(256, 1024, 4, 4) }
func Small() Model { return t5(512, 2048, 8, 6) }
func Base() Model  { return t5(768, 3072, 12, 12) }
func BERT() Model {
	return Model{Vocabulary: 30522, Width: 512, Inner: 512, Heads: 8, FF: 2048, Encoder: 8, Positions: 512}
}

// Published are models by their names on the Hugging Face hub, whose sizes are known before
// they are there: those that the paper uses and their relatives.
func Published(repository string) (Model, bool) {
	gated := func(m Model) Model { m.Gated, m.Untied = true, true; return m }
	m, ok := map[string]Model{
		"google/t5-efficient-tiny":            Tiny(),
		"google-t5/t5-small":                  Small(),
		"google-t5/t5-base":                   Base(),
		"google-t5/t5-large":                  t5(1024, 4096, 16, 24),
		"google/flan-t5-small":                gated(t5(512, 1024, 6, 8)),
		"google/flan-t5-base":                 gated(t5(768, 2048, 12, 12)),
		"google/flan-t5-large":                gated(t5(1024, 2816, 16, 24)),
		"facebook/bart-base":                  {Vocabulary: 50265, Width: 768, Inner: 768, Heads: 12, FF: 3072, Encoder: 6, Decoder: 6, Positions: 1026},
		"facebook/bart-large":                 {Vocabulary: 50265, Width: 1024, Inner: 1024, Heads: 16, FF: 4096, Encoder: 12, Decoder: 12, Positions: 1026},
		"google/bert_uncased_L-8_H-512_A-8":   BERT(),
		"google-bert/bert-base-uncased":       {Vocabulary: 30522, Width: 768, Inner: 768, Heads: 12, FF: 3072, Encoder: 12, Positions: 512},
		"castorini/doc2query-t5-base-msmarco": Base(),
	}[repository]
	return m, ok
}

// file is what of config.json sizes are made of, by the names that families have.
type file struct {
	Type       string `json:"model_type"`
	Vocabulary int64  `json:"vocab_size"`
	Positions  int64  `json:"max_position_embeddings"`

	DModel         int64  `json:"d_model"`
	DKV            int64  `json:"d_kv"`
	DFF            int64  `json:"d_ff"`
	Layers         int64  `json:"num_layers"`
	DecoderLayers  *int64 `json:"num_decoder_layers"`
	Heads          int64  `json:"num_heads"`
	FeedForward    string `json:"feed_forward_proj"`
	Gated          *bool  `json:"is_gated_act"`
	Tied           *bool  `json:"tie_word_embeddings"`
	BARTEncoder    int64  `json:"encoder_layers"`
	BARTDecoder    int64  `json:"decoder_layers"`
	BARTHeads      int64  `json:"encoder_attention_heads"`
	BARTFF         int64  `json:"encoder_ffn_dim"`
	Hidden         int64  `json:"hidden_size"`
	HiddenLayers   int64  `json:"num_hidden_layers"`
	AttentionHeads int64  `json:"num_attention_heads"`
	Intermediate   int64  `json:"intermediate_size"`
	Dim            int64  `json:"dim"` // DistilBERT
	NLayers        int64  `json:"n_layers"`
	NHeads         int64  `json:"n_heads"`
	HiddenDim      int64  `json:"hidden_dim"`
}

// ParseModel reads sizes from a config.json. What it leaves out is as in T5-Small, or BERT.
func ParseModel(config []byte) (Model, error) {
	f := file{Type: "bert", DModel: 512, DKV: 64, DFF: 2048, Layers: 6, Heads: 8, BARTEncoder: 12, BARTDecoder: 12, BARTHeads: 16, BARTFF: 4096,
		Hidden: 768, HiddenLayers: 12, AttentionHeads: 12, Intermediate: 3072, Positions: 512, Dim: 768, NLayers: 6, NHeads: 12, HiddenDim: 3072}
	if err := json.Unmarshal(config, &f); err != nil {
		return Model{}, fmt.Errorf("config.json: %w", err)
	}
	var m Model
	switch f.Type {
	case "t5", "mt5", "umt5":
		m = Model{Vocabulary: f.Vocabulary, Width: f.DModel, Inner: f.Heads * f.DKV, Heads: f.Heads, FF: f.DFF, Encoder: f.Layers, Decoder: f.Layers}
		if f.DecoderLayers != nil {
			m.Decoder = *f.DecoderLayers
		}
		m.Gated = len(f.FeedForward) > 6 && f.FeedForward[:6] == "gated-"
		if f.Gated != nil {
			m.Gated = *f.Gated
		}
		m.Untied = f.Tied != nil && !*f.Tied
	case "bart":
		m = Model{Vocabulary: f.Vocabulary, Width: f.DModel, Inner: f.DModel, Heads: f.BARTHeads, FF: f.BARTFF, Encoder: f.BARTEncoder, Decoder: f.BARTDecoder, Positions: f.Positions}
	case "distilbert":
		m = Model{Vocabulary: f.Vocabulary, Width: f.Dim, Inner: f.Dim, Heads: f.NHeads, FF: f.HiddenDim, Encoder: f.NLayers, Positions: f.Positions}
	default:
		m = Model{Vocabulary: f.Vocabulary, Width: f.Hidden, Inner: f.Hidden, Heads: f.AttentionHeads, FF: f.Intermediate, Encoder: f.HiddenLayers, Positions: f.Positions}
	}
	if m.Vocabulary == 0 {
		m.Vocabulary = map[bool]int64{true: 32128, false: 30522}[m.Decoder > 0]
	}
	return m, m.validate()
}

func (m Model) validate() error {
	for _, a := range []struct {
		name      string
		n, atMost int64
	}{{"vocabulary", m.Vocabulary, 1 << 24}, {"width", m.Width, 1 << 16}, {"heads' width", m.Inner, 1 << 22}, {"heads", m.Heads, 1000},
		{"feed-forward width", m.FF, 1 << 18}, {"encoder layers", m.Encoder, 1000}} {
		if a.n < 1 || a.n > a.atMost {
			return fmt.Errorf("config.json: the %s would be %d, want 1 to %d", a.name, a.n, a.atMost)
		}
	}
	if m.Decoder < 0 || m.Decoder > 1000 {
		return fmt.Errorf("config.json: there would be %d decoder layers, want 0 to 1000", m.Decoder)
	}
	return nil
}

// Extended has n more tokens.
func (m Model) Extended(n int64) Model {
	m.Vocabulary += n
	return m
}

// matrices of a layer: those of attention to itself, to the encoder, and the feed-forward
// layer's, in numbers.
func (m Model) self() int64  { return 4 * m.Width * m.Inner }
func (m Model) cross() int64 { return m.self() }
func (m Model) feed() int64 {
	n := 2 * m.Width * m.FF
	if m.Gated {
		n += m.Width * m.FF
	}
	return n
}

// blocks is all matrices of the layers.
func (m Model) blocks() int64 {
	return m.Encoder*(m.self()+m.feed()) + m.Decoder*(m.self()+m.cross()+m.feed())
}

// tables is the rows of tokens and positions.
func (m Model) tables() int64 {
	n := m.Vocabulary * m.Width
	if m.Untied {
		n *= 2
	}
	if m.Decoder > 0 {
		return n + 2*m.Positions*m.Width
	}
	return n + m.Positions*m.Width
}

// Parameters is how many numbers the model has, but for norms and biases, which are less
// than a hundredth of them.
func (m Model) Parameters() int64 { return m.blocks() + m.tables() }
