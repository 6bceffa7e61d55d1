package model

import (
	"cmp"

	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// work is the updates and the evaluations on the way, all of them: patience may end both
// earlier.
func (c TrainConfig) work() step.Work {
	return step.Work{
		Trains: &step.Training{Model: c.Model, Identifiers: c.IDs, Corpus: c.Corpus, Queries: c.Queries,
			Updates: c.Steps, Batch: c.Batch, Accumulate: c.Accumulate, Optimizer: c.Optimizer, Precision: c.Precision,
			MaxDocument: c.MaxInput, MaxQuery: c.MaxQuery, Documents: shareOf(c.Ratio), Recomputes: c.Recompute},
		Searches: &step.Searching{Model: c.Model, Identifiers: c.IDs, Queries: c.Queries, Split: "dev",
			Times: (c.Steps + c.EvaluateEvery - 1) / c.EvaluateEvery, Beams: c.Beams, Batch: searchedTogether, Precision: c.Precision, MaxQuery: c.MaxQuery},
		Model: &step.FutureModel{Like: c.Model},
	}
}

// searchedTogether is retrieve.Default's batch, of evaluations in training.
const searchedTogether = 32

// shareOf is the share of examples that begin with a document; below 0 where all documents
// and queries come once.
func shareOf(ratio string) float64 {
	r, err := train.ParseRatio(ratio)
	if err != nil || r == train.Natural {
		return -1
	}
	return float64(r.Indexing) / float64(r.Indexing+r.Retrieval)
}

// work is the search; parts share it.
func (c evaluateConfig) work() step.Work {
	return step.Work{Searches: &step.Searching{Model: c.Model, Identifiers: c.IDs, Queries: c.Queries, Split: c.Split, Times: 1,
		Beams: c.Beams, Constrained: c.Decoding == Constrained, Batch: c.Batch, Part: c.Shard, Precision: "fp32"}}
}

// work is the updates. An evaluation is one forward pass of the development queries, less
// than a hundredth of the updates before it, and is not counted.
func (c TrainQueriesConfig) work() step.Work {
	return step.Work{
		Trains: &step.Training{Model: c.Model, Corpus: c.Corpus, Queries: c.Queries, Updates: c.Steps, Batch: c.Batch,
			Optimizer: Adafactor, Precision: c.Precision, MaxDocument: c.MaxInput, MaxQuery: c.MaxQuery, Documents: 1},
		Model: &step.FutureModel{Like: c.Model},
	}
}

// work is what the model writes; imported files cost a card nothing.
func (c generateConfig) work() step.Work {
	if !c.Model.Set() {
		return step.Work{}
	}
	w := &step.Writing{Model: c.Model, Documents: c.Documents, PerDocument: c.PerDocument, MaxTokens: c.MaxTokens, Batch: c.Batch, MaxInput: inout.Or(c.MaxInput, 0)}
	if c.Method == ByBeam {
		w.Beams = max(c.Beams, c.PerDocument)
	}
	return step.Work{Writes: w}
}

// work says of which sizes the model will be.
func (c RandomT5Config) work() step.Work {
	decoder := cmp.Or(c.DecoderLayers, c.Layers)
	config := map[string]any{"model_type": c.Family, "vocab_size": c.Vocabulary, "d_model": c.DModel, "d_kv": c.DKV, "d_ff": c.DFF,
		"num_layers": c.Layers, "num_decoder_layers": decoder, "num_heads": c.Heads, "feed_forward_proj": c.FeedForward}
	if c.Family == "bart" {
		config = map[string]any{"model_type": c.Family, "vocab_size": c.Vocabulary, "d_model": c.DModel, "encoder_layers": c.Layers,
			"decoder_layers": decoder, "encoder_attention_heads": c.Heads, "decoder_attention_heads": c.Heads,
			"encoder_ffn_dim": c.DFF, "decoder_ffn_dim": c.DFF}
	}
	return step.Work{Model: &step.FutureModel{Config: config}}
}

// work says that the model is that of its files.
func (c ImportModelConfig) work() step.Work {
	return step.Work{Model: &step.FutureModel{Like: oneOf(c.Files)}}
}

// work says that the model is that of its files.
func (c ImportTrainedConfig) work() step.Work {
	return step.Work{Model: &step.FutureModel{Like: oneOf(c.Files)}}
}

// oneOf is the first of several inputs, in which a config.json mostly is.
func oneOf(all step.Inputs) step.Input {
	if len(all) == 0 {
		return step.Input{}
	}
	return all[0]
}
