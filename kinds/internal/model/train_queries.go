package model

import (
	"github.com/redsi/redsi/step"
)

// TrainQueriesConfig fits a model that writes queries.
type TrainQueriesConfig struct {
	Model           step.Input  `hcl:"model" accepts:"files,hf/model" help:"Hugging Face folder of a T5 or BART model: config.json and model.safetensors or pytorch_model.bin"`
	Init            string      `hcl:"init,optional" enum:"weights,random" help:"weights: start from the model's; random: take its config.json alone and draw weights from seed"`
	Corpus          step.Input  `hcl:"corpus" accepts:"nq/corpus" help:"texts of the collection's documents"`
	Queries         step.Input  `hcl:"queries" accepts:"nq/queries" help:"queries of the collection: those of train are learned, those of dev choose the checkpoint"`
	Tokenizer       step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	MaxInput        int         `hcl:"max_input,optional" help:"first tokens of a document that the model reads, prefix and special tokens not counted"`
	MaxQuery        int         `hcl:"max_query,optional" help:"first tokens of a query that the model learns to write, special tokens not counted"`
	Prefix          string      `hcl:"prefix,optional" help:"text whose tokens stand before each document; \"\": none"`
	Lowercase       bool        `hcl:"lowercase,optional" help:"lower-case documents and queries first"`
	Steps           int         `hcl:"steps,optional" help:"updates"`
	Batch           int         `hcl:"batch,optional" help:"examples of an update"`
	LearningRate    float64     `hcl:"learning_rate,optional" help:"Adafactor's rate, constant after the warmup"`
	Warmup          int         `hcl:"warmup,optional" help:"updates over which the rate rises from 0"`
	ScaleParameter  bool        `hcl:"scale_parameter,optional" help:"Adafactor multiplies the rate of each parameter tensor by its root mean square, at least 1e-3"`
	Dropout         *float64    `hcl:"dropout,optional" help:"instead of the model's dropout_rate (T5) or dropout (BART)"`
	Seed            int         `hcl:"seed,optional" help:"for random weights, the order of examples and dropout"`
	Precision       string      `hcl:"precision,optional" enum:"fp32,bf16,fp16" help:"precision of matrix products; parameters are fp32. fp16 needs a CUDA device"`
	EvaluateEvery   int         `hcl:"evaluate_every,optional" help:"updates between evaluations; the last update is always evaluated"`
	DevQueries      int         `hcl:"dev_queries,optional" help:"development queries of an evaluation, the first ones; 0: all"`
	CheckpointEvery int         `hcl:"checkpoint_every,optional,nokey" help:"updates between checkpoints to resume from; default: after each evaluation. There is always one every ten minutes"`
	Device          string      `hcl:"device,optional,nokey" help:"cpu, cuda, cuda:1 …; auto: a free card of the worker, else the CPU"`
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
	Version: 1,
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
	Defaults: TrainQueriesConfig{Init: "weights", MaxInput: 512, MaxQuery: 64, Lowercase: true, Steps: 100_000, Batch: 128,
		LearningRate: 1e-3, ScaleParameter: true, Seed: 42, Precision: "fp32", EvaluateEvery: 5000, DevQueries: 1000, Device: "auto"},
	Queue:  step.GPU,
	Needs:  step.Libtorch,
	Device: func(c TrainQueriesConfig) string { return c.Device },
	Check:  checkTrainQueries,
	Work:   TrainQueriesConfig.work,
})

// sameQueriesReport takes two models for one if they find development queries about as likely.
var sameQueriesReport = step.Numbers{Margin: step.Margin{Rel: 1e-6}, Fields: map[string]step.Margin{
	"seconds": {Skip: true}, "device": {Skip: true}, "threads": {Skip: true}, "resumed_at": {Skip: true},
	"dev_loss": {Rel: 0.02}, "dev_perplexity": {Rel: 0.1}, "best_step": {Rel: 0.5},
}}

func checkTrainQueries(c TrainQueriesConfig) error {
	return checkFit(c.Device, c.Precision, c.LearningRate, c.Dropout,
		atLeast{"max_input", c.MaxInput, 1}, atLeast{"max_query", c.MaxQuery, 1}, atLeast{"steps", c.Steps, 1}, atLeast{"batch", c.Batch, 1},
		atLeast{"warmup", c.Warmup, 0}, atLeast{"seed", c.Seed, 0}, atLeast{"evaluate_every", c.EvaluateEvery, 1},
		atLeast{"dev_queries", c.DevQueries, 0}, atLeast{"checkpoint_every", c.CheckpointEvery, 0}).Err()
}

// Likelihood is the metric that selects: e to minus the mean loss of a token.
const Likelihood = "likelihood"
