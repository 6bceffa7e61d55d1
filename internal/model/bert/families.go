package bert

// family is a model_type: its defaults, as transformers' configuration class has them, and what its files call things.
type family struct {
	defaults Config
	prefix   string // of names in files of models with a head
	// afterPad: positions are counted from the pad token's number on, as fairseq did.
	afterPad bool
	fixedPad bool // whatever config.json says
	sizes    [4]string
	layers   string // of layer i
	names    names
}

// names are the names of a layer's parts.
type names struct{ q, k, v, o, afterAttention, in, out, after string }

var bertSizes = [4]string{"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"}

var bertNames = names{q: "attention.self.query", k: "attention.self.key", v: "attention.self.value", o: "attention.output.dense",
	afterAttention: "attention.output.LayerNorm", in: "intermediate.dense", out: "output.dense", after: "output.LayerNorm"}

var bertDefaults = Config{VocabSize: 30522, Hidden: 768, Layers: 12, Heads: 12, Intermediate: 3072, MaxPositions: 512, Types: 2,
	Activation: "gelu", Epsilon: 1e-12}

// with is bertDefaults, changed.
func with(change func(c *Config)) Config {
	c := bertDefaults
	change(&c)
	return c
}

var families = map[string]*family{
	"bert": {defaults: bertDefaults, prefix: "bert.", sizes: bertSizes, layers: "encoder.layer.%d.", names: bertNames},
	"electra": {defaults: with(func(c *Config) { c.Embedding, c.Hidden, c.Heads, c.Intermediate = 128, 256, 4, 1024 }),
		prefix: "electra.", sizes: bertSizes, layers: "encoder.layer.%d.", names: bertNames},
	"roberta": {defaults: with(func(c *Config) { c.VocabSize, c.Pad = 50265, 1 }), afterPad: true,
		prefix: "roberta.", sizes: bertSizes, layers: "encoder.layer.%d.", names: bertNames},
	"xlm-roberta": {defaults: with(func(c *Config) { c.Pad = 1 }), afterPad: true,
		prefix: "roberta.", sizes: bertSizes, layers: "encoder.layer.%d.", names: bertNames},
	"distilbert": {defaults: with(func(c *Config) { c.Layers, c.Types = 6, 0 }),
		prefix: "distilbert.", sizes: [4]string{"dim", "n_layers", "n_heads", "hidden_dim"}, layers: "transformer.layer.%d.",
		names: names{q: "attention.q_lin", k: "attention.k_lin", v: "attention.v_lin", o: "attention.out_lin",
			afterAttention: "sa_layer_norm", in: "ffn.lin1", out: "ffn.lin2", after: "output_layer_norm"}},
	"mpnet": {defaults: with(func(c *Config) { c.VocabSize, c.Types, c.Pad, c.Buckets = 30527, 0, 1, 32 }), afterPad: true, fixedPad: true,
		prefix: "mpnet.", sizes: bertSizes, layers: "encoder.layer.%d.",
		names: names{q: "attention.attn.q", k: "attention.attn.k", v: "attention.attn.v", o: "attention.attn.o",
			afterAttention: "attention.LayerNorm", in: "intermediate.dense", out: "output.dense", after: "output.LayerNorm"}},
}

// mpnetDistance is from where on MPNet's relative positions are one.
const mpnetDistance = 128
