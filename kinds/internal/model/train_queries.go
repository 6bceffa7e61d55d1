package model

import (
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// TrainQueriesConfig fits a model that writes queries.
type TrainQueriesConfig struct {
	Model     step.Input  `hcl:"model" accepts:"files,hf/model" help:"Hugging Face folder of a T5 or BART model: config.json and model.safetensors or pytorch_model.bin"`
	Tokenizer step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Fitting
	MaxInput   int    `hcl:"max_input,optional" min:"1" help:"first tokens of a document that the model reads, prefix and special tokens not counted"`
	MaxQuery   int    `hcl:"max_query,optional" min:"1" help:"first tokens of a query that the model learns to write, special tokens not counted"`
	Prefix     string `hcl:"prefix,optional" help:"text whose tokens stand before each document; \"\": none"`
	Lowercase  bool   `hcl:"lowercase,optional" help:"lower-case documents and queries first"`
	DevQueries int    `hcl:"dev_queries,optional" min:"0" help:"development queries of an evaluation, the first ones; 0: all"`
}

// TrainQueriesReport is the report of a train_queries step.
type TrainQueriesReport struct {
	Parameters  int64   `json:"parameters"` // trainable numbers, tied ones counted once
	Steps       int64   `json:"steps"`
	BestStep    int64   `json:"best_step"`
	DevLoss     float64 `json:"dev_loss"`       // of the selected checkpoint: mean over the tokens of development queries
	Perplexity  float64 `json:"dev_perplexity"` // e to that
	Examples    int     `json:"examples"`
	DevExamples int     `json:"dev_examples"`
	Seconds     float64 `json:"seconds" unit:"s"`
	Device      string  `json:"device"`
	Threads     int     `json:"threads"`    // of one operation on the CPU
	ResumedAt   int64   `json:"resumed_at"` // step at which the last process went on; 0: at the start
}

var TrainQueries = step.Define(step.Kind[TrainQueriesConfig]{
	Name:    "train_queries",
	Resumes: true, Counts: "step", CountsTo: "steps",
	Version: 2,
	Doc: `Train a model to write the queries that a document is asked for (doc2query; not in the paper).
An example leads from a document's text to one of its training queries; Adafactor, constant rate after a linear
warmup. Each evaluation measures the mean loss of development queries, token by token; the checkpoint with the lowest
is kept, which is the one with the highest likelihood, e to minus that loss. Kind generate_queries takes the model, and
reads documents as it did here, by its doc2query.json. Resumes, on any worker, at its newest checkpoint with the bits
that it would have had without the interruption. Cost: steps x batch sequences forward and backward, and one forward
pass of the development queries every evaluate_every steps; memory is the parameters and their gradients, 8
bytes each, the activations of a batch, and the examples' tokens, of each document once.`,
	Example: `step "train_queries" "title" {
  model     = step.download.t5_small.files
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: []step.Output{
		{Name: "model", Type: "hf/model", Tree: true, Help: "the selected checkpoint: config.json and model.safetensors, which transformers opens, and doc2query.json, how it reads documents",
			Alike: step.OfTheRun{}, Why: "differences of rounding on another processor grow from update to update; the report says how good it is"},
		{Name: "curve", Type: "train/curve", Help: "loss, rate, seconds and the likelihood of development queries at each evaluation, as JSON", Fields: curveFields(Likelihood),
			Alike: sameCurve, Why: "losses and metrics on the way to a model, which is compared itself"},
		{Name: "events", Type: "tensorboard/events", Help: "the curve for TensorBoard; name it events.out.tfevents.SOMETHING",
			Alike: step.OfTheRun{}, Why: "it has wall-clock times"},
		{Name: "report", Type: "train/queries_report", Help: "parameters, examples, and loss and perplexity of development queries, as JSON", Fields: step.FieldsOf[TrainQueriesReport](),
			Alike: sameQueriesReport, Why: "another evaluation may be the best where two are nearly equal"},
	},
	Defaults: TrainQueriesConfig{Fitting: queriesFitting(), MaxInput: 512, MaxQuery: 64, Lowercase: true, DevQueries: 1000},
	Queue:    step.GPU,
	Needs:    step.Libtorch,
	Device:   func(c TrainQueriesConfig) string { return c.Device },
	Check:    inout.Checks(func(c TrainQueriesConfig, ps *step.Problems) { c.Fitting.check(ps) }),
	Work:     TrainQueriesConfig.work,
})

// sameQueriesReport takes two models for one if they find development queries about as likely.
var sameQueriesReport = step.Numbers{Margin: step.Margin{Rel: 1e-6}, Fields: map[string]step.Margin{
	"seconds": {Skip: true}, "device": {Skip: true}, "threads": {Skip: true}, "resumed_at": {Skip: true},
	"dev_loss": {Rel: 0.02}, "dev_perplexity": {Rel: 0.1}, "best_step": {Rel: 0.5},
}}

// queriesFitting differs in that fewer updates suffice.
func queriesFitting() Fitting {
	f := defaultFitting
	f.Steps = 100_000
	return f
}

// Likelihood is the metric that selects: e to minus the mean loss of a token.
const Likelihood = "likelihood"
