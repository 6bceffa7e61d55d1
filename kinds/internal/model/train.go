package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type TrainConfig struct {
	Model     step.Input  `hcl:"model" accepts:"files,hf/model,dsi/model" help:"Hugging Face folder of a T5 or BART model: config.json and model.safetensors or pytorch_model.bin; or the model of a train step, to train it further"`
	IDs       step.Input  `hcl:"ids" accepts:"docid/ids" help:"identifiers of the collection's documents"`
	Tokenizer step.Inputs `hcl:"tokenizer,was=t5_tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Fitting
	MaxInput       int     `hcl:"max_input,optional" min:"1" help:"first tokens of a document that the model reads, index_prefix and special tokens not counted (the paper's ℓ: 64 for atomic identifiers, else 32)"`
	MaxQuery       int     `hcl:"max_query,optional" min:"1" help:"first tokens of a query that the model reads, query_prefix counted, special tokens not"`
	IndexPrefix    string  `hcl:"index_prefix,optional" help:"text whose tokens stand before each document; \"\": none"`
	QueryPrefix    string  `hcl:"query_prefix,optional" help:"text whose tokens stand before each query; \"\": none"`
	Lowercase      bool    `hcl:"lowercase,optional" help:"lower-case texts and queries first, as the paper's examples are"`
	Ratio          string  `hcl:"ratio,optional" help:"indexing-to-retrieval ratio: natural, every document and every query once per pass; or a:b, such as 32:1 or 0:1, which takes every query once and repeats or samples documents"`
	Repeats        string  `hcl:"repeats,optional" enum:"uniform,by_queries" help:"uniform: ratio a:b repeats all documents alike; by_queries, for ratio 1:1: each document occurs as often per pass as it has training queries, at least once"`
	Optimizer      string  `hcl:"optimizer,added" enum:"adafactor,adamw" help:"adafactor: transformers', without a first moment; adamw: torch's, with beta1, beta2, epsilon and weight_decay"`
	Schedule       string  `hcl:"schedule,added" enum:"constant,linear,cosine,inverse_sqrt" help:"how the rate changes after the warmup: linear and cosine fall to 0 at the last update, inverse_sqrt with the root of the updates made"`
	Accumulate     int     `hcl:"accumulate,added" min:"1" help:"parts that the batch of an update is cut into, one after another: less memory, and the update of the whole batch but for rounding and the masks of dropout"`
	ClipNorm       float64 `hcl:"clip_norm,added" min:"0" help:"the largest norm of all gradients together, as torch's clip_grad_norm_; 0: any"`
	LabelSmoothing float64 `hcl:"label_smoothing,added" min:"0" below:"1" help:"how much of each label's weight is spread over the vocabulary, as torch's CrossEntropyLoss"`
	WeightDecay    float64 `hcl:"weight_decay,added" min:"0" help:"for adamw; biases and layer norms have none, as transformers' Trainer has it"`
	Beta1          float64 `hcl:"beta1,added" min:"0" below:"1" help:"for adamw: how much of the running mean of gradients stays"`
	Beta2          float64 `hcl:"beta2,added" min:"0" below:"1" help:"for adamw: how much of the running mean of their squares stays"`
	Epsilon        float64 `hcl:"epsilon,added" above:"0" help:"for adamw: added to the root of that mean"`
	Select         string  `hcl:"select,optional" help:"metric whose highest value chooses the checkpoint that is kept, such as MRR@10 or Hits@1"`
	Patience       int     `hcl:"patience,added" min:"0" help:"end training after this many evaluations in a row without a better value of select's metric; 0: make all steps. Not early_stopping, which is for a search"`
	Beams          int     `hcl:"beams,optional" min:"1" help:"for an evaluation: beams of an unconstrained search, documents of an atomic ranking"`
	EarlyStopping  string  `hcl:"early_stopping,optional" enum:"full,heuristic,never" help:"when the search of an evaluation ends, as True, False and never of transformers 4.44.1; the model keeps it. Training ends early by patience"`
	Validity       string  `hcl:"validity,optional" enum:"tokens,text" help:"when a hypothesis of an evaluation names a document: its tokens are an identifier's, or its text is, whichever tokens spell it; the model keeps it; no effect on atomic identifiers"`
	KeepState      bool    `hcl:"keep_state,added,nokey" help:"keep the state at the end, about three times the model's size, so that training with more steps continues from there; garbage collection removes it"`
	Recompute      bool    `hcl:"checkpoint_activations,added,nokey" help:"keep only each layer's input of a batch, and recompute the layer for its gradients: less memory, one more forward pass, the same update"`
}

// Fitting has the attributes of every training: its data, how far it goes and where it computes.
type Fitting struct {
	Init            string     `hcl:"init,optional" enum:"weights,random" help:"weights: start from the model's; random: take only its config.json and draw weights from seed"`
	Corpus          step.Input `hcl:"corpus" accepts:"nq/corpus" help:"texts of the collection's documents"`
	Queries         step.Input `hcl:"queries" accepts:"nq/queries" help:"queries of the collection: train's are learned, dev's choose the checkpoint"`
	Steps           int        `hcl:"steps,optional" min:"1" help:"updates"`
	Batch           int        `hcl:"batch,optional" min:"1" help:"examples of an update"`
	LearningRate    float64    `hcl:"learning_rate,optional" above:"0" help:"the optimizer's rate after the warmup (paper, with Adafactor: 5e-4 for atomic identifiers, else 1e-3)"`
	Warmup          int        `hcl:"warmup,optional" min:"0" help:"updates over which the rate rises from 0 (paper: 10,000 for atomic identifiers, else none)"`
	ScaleParameter  bool       `hcl:"scale_parameter,optional" help:"Adafactor multiplies the rate of each parameter tensor by its root mean square, at least 1e-3"`
	Dropout         *float64   `hcl:"dropout,optional" min:"0" below:"1" help:"instead of the model's dropout_rate (T5) or dropout (BART)"`
	Seed            int        `hcl:"seed,optional" min:"0" help:"for random weights, the rows of tokens that identifiers have of their own, the order of examples and dropout"`
	Precision       string     `hcl:"precision,optional" enum:"fp32,bf16,fp16" help:"precision of matrix products; parameters are fp32, as are the scores of a search. fp16 needs a CUDA device"`
	EvaluateEvery   int        `hcl:"evaluate_every,optional" min:"1" help:"updates between evaluations on the development queries; the last update is always evaluated"`
	CheckpointEvery int        `hcl:"checkpoint_every,optional,nokey" min:"0" help:"updates between checkpoints to resume from; default: after each evaluation. There is always one every ten minutes"`
	Device          string     `hcl:"device,optional,nokey" help:"cpu, cuda, cuda:1 …; auto: a free card of the worker, else the CPU"`
}

var Train = step.Define(step.Kind[TrainConfig]{
	Name:    "train",
	Resumes: true, Counts: "step", CountsTo: "steps",
	Version: 4,
	Doc: `Train a model to name documents by their identifiers (section "Training", appendix "Implementation Details").
Indexing examples lead from a document's text to its identifier, retrieval
examples from a query to it; the model is a T5 or a BART, as its config.json says;
Adafactor, or AdamW, with a rate that follows a schedule after a linear warmup. The model reads the tokens of
index_prefix and the first max_input of a document, or the tokens of query_prefix and a
query, max_query together, with the tokenizer's special tokens around them; a prefix
is tokenized by itself. Evaluation and search read queries in the same way. The
vocabulary grows by the tokens that identifiers have of their own: one per document
for atomic ones, the codes of residual ones. Each evaluation
retrieves for all development queries, post-filtered; the checkpoint with the best
metric is kept. Defaults are the paper's for naive and semantic identifiers.
The model of a train step can be trained further, in a second stage: with other queries,
ratio or prefixes, but with its own identifiers where those are rows of its vocabulary,
as atomic ones are. The optimizer starts afresh.
With keep_state, a step that differs from this one only in more steps, or in patience,
continues where it ended, to the same bytes as if it had made all steps itself; its report
and log say from where. Not with a linear or cosine schedule, whose rate depends on steps.
Resumes, on any worker, at its newest checkpoint with the bits that it would have
had without the interruption. The model is the same bytes for the same
configuration and inputs on one kind of CPU: with any number of threads on Intel's with
AVX2 and AMD's with AVX-512, else with the number that the result names. Another kind of CPU or a CUDA device rounds
differently. Curve, events and report have wall-clock times. Cost: steps x batch
sequences forward and backward, and an evaluation of all development queries every
evaluate_every steps; memory is the parameters and their gradients, 8 bytes each (16
with AdamW, 4 more with accumulate), the activations of a batch, or of a part of it, or, with
checkpoint_activations, of one of its layers, the examples' tokens, and, while evaluating on a CPU, a copy of the output matrix.`,
	Example: `step "train" "dsi" {
  model         = step.download.t5_small.files
  ids           = step.atomic_ids.nq["title"].ids
  corpus        = step.serialize.nq["title/html_norm"].corpus
  queries       = step.dedup.nq["title"].queries
  tokenizer     = step.download.t5_tokenizer.files
  max_input     = 64
  learning_rate = 5e-4
  warmup        = 10000
}`,
	Outputs: []step.Output{
		{Name: "model", Type: "dsi/model", Tree: true, Help: "the selected checkpoint: config.json and model.safetensors, which transformers opens, and redsi.json, what a query must know",
			Alike: sameModel, Why: "differences of rounding on another processor grow from update to update, as with another seed"},
		{Name: "curve", Type: "train/curve", Help: "loss, rate, seconds and development metrics at each evaluation, as JSON", Fields: step.FieldsOf[train.Curve](),
			Alike: sameCurve, Why: "losses and metrics on the way to a model, which is compared itself"},
		{Name: "events", Type: "tensorboard/events", Help: "the curve for TensorBoard; name it events.out.tfevents.SOMETHING",
			Alike: step.OfTheRun{}, Why: "it has wall-clock times"},
		{Name: "report", Type: "train/report", Help: "parameters, examples, the best development metrics as fractions, and when they were reached, as JSON", Fields: step.FieldsOf[TrainReport](),
			Alike: sameReport, Why: "another evaluation may be the best where two are nearly equal"},
	},
	Declares: func(c TrainConfig) map[string]*step.Fields {
		list, err := c.Metrics(true) // with Invalid@k, though some identifiers, unknown yet, cannot be invalid
		if err != nil {
			return nil
		}
		names := lists.Map(list, metrics.Metric.String)
		return map[string]*step.Fields{"curve": curveFields(names...), "report": step.FieldsOf[TrainReport]().With("metrics", names...)}
	},
	Trajectory: func(c TrainConfig) []string {
		if c.Rates().DependsOnSteps() {
			return nil
		}
		return []string{"steps", "patience"}
	},
	Defaults: TrainConfig{Fitting: fitting(1_000_000), Optimizer: Adafactor, Schedule: train.Constant, Accumulate: 1, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8,
		MaxInput: 32, MaxQuery: 64, IndexPrefix: "index:", QueryPrefix: "query:", Lowercase: true,
		Ratio: train.Natural.String(), Repeats: "uniform", Select: "MRR@10", Beams: 40,
		EarlyStopping: string(retrieve.DefaultSearch().EarlyStopping), Validity: string(retrieve.DefaultSearch().Validity)},
	Queue:  step.GPU,
	Needs:  step.Libtorch,
	Device: func(c TrainConfig) string { return c.Device },
	Check: inout.Checks(func(c TrainConfig, ps *step.Problems) {
		c.Fitting.check(ps)
		_, err := train.ParseRatio(c.Ratio)
		inout.CheckError(ps, "ratio", err)
		inout.Check(ps, "repeats", c.Repeats != ByQueries || c.Ratio == "1:1", "by_queries applies only to ratio = \"1:1\"; with ratio = %q use uniform", c.Ratio)
		inout.Check(ps, "accumulate", c.Accumulate <= c.Batch, "a batch of %d examples cannot be cut into %d parts", c.Batch, c.Accumulate)
		for _, a := range []struct {
			path string
			set  bool // another value than the default
		}{{"weight_decay", c.WeightDecay != 0}, {"epsilon", c.Epsilon != 1e-8}, {"beta1", c.Beta1 != 0.9}, {"beta2", c.Beta2 != 0.999}} {
			inout.Check(ps, a.path, !a.set || c.Optimizer == AdamW, "applies only to optimizer = %q; here optimizer is %q", AdamW, c.Optimizer)
		}
		inout.Check(ps, "scale_parameter", c.ScaleParameter || c.Optimizer != AdamW, "applies only to optimizer = %q; here optimizer is %q", Adafactor, c.Optimizer)
		_, err = c.Metrics(true)
		inout.CheckError(ps, "select", err)
	}),
	Work: func(c TrainConfig) step.Work { // patience may end it earlier
		evaluations := searches(step.Searches, math.Ceil(float64(c.Steps)/float64(max(1, c.EvaluateEvery))), c.Beams, c.Queries, "dev")
		evaluations.Evaluates = true
		w := step.Work{Does: []step.Doing{{Unit: step.Updates, Amount: step.Exactly(float64(c.Steps) * float64(c.Batch) / ratedBatch)}, evaluations}, Like: c.Model,
			Counts: map[string]step.Amount{step.UpdatesCount: step.Exactly(float64(c.Steps))}}
		return by(w, c.Model, c.IDs)
	},
})

// fitting has the paper's values for naive and semantic identifiers, with which steps is a million.
func fitting(steps int) Fitting {
	return Fitting{Init: "weights", Steps: steps, Batch: 128, LearningRate: 1e-3, ScaleParameter: true, Seed: 42,
		Precision: "fp32", EvaluateEvery: 5000, Device: "auto"}
}

const Adafactor, AdamW = "adafactor", "adamw"

// Rates returns the schedule of the learning rate.
func (c TrainConfig) Rates() train.Schedule {
	return train.Schedule{Rate: c.LearningRate, Warmup: int64(c.Warmup), Form: c.Schedule, Steps: int64(c.Steps)}
}

// ByQueries is the value of repeats that asks for train.Data.Repeats.
const ByQueries = "by_queries"

// check adds problems that ranges do not express.
func (c Fitting) check(ps *step.Problems) {
	inout.CheckDevice(ps, c.Device, c.Precision)
	inout.Check(ps, "precision", c.Precision != "fp16" || c.Device != "cpu", "fp16 trains on a CUDA device only; use fp32 or bf16, or another device")
}

// Metrics returns the paper's metrics and select's; Invalid@k, which looks at all beams, only if identifiers can be
// invalid.
func (c TrainConfig) Metrics(canBeInvalid bool) ([]metrics.Metric, error) {
	names := []string{"Hits@1", "Hits@10", "MRR@10"}
	if canBeInvalid && c.Beams > 0 {
		names = append(names, InvalidMetric(c.Beams))
	}
	selected, err := c.Selected()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, selected) {
		names = append(names, selected)
	}
	return metrics.ParseAll(names...)
}

// Selected returns the name under which reports have select's metric.
func (c TrainConfig) Selected() (string, error) {
	m, err := metrics.Parse(c.Select)
	if err != nil {
		return "", err
	}
	if m.LowerIsBetter() {
		return "", fmt.Errorf("lower values of %s are better; choose another, such as MRR@10 or Hits@1", c.Select)
	}
	return m.String(), nil
}

// curveFields returns the fields of a curve whose points have these metrics.
func curveFields(names ...string) *step.Fields {
	return step.FieldsOf[train.Curve]().With("points.0.metrics", names...)
}

// TrainReport is the report of a train step. Metrics are fractions; seconds are wall clock, with evaluations and
// resumed parts.
type TrainReport struct {
	Parameters int64              `json:"parameters"` // trainable numbers, tied ones counted once
	Steps      int64              `json:"steps"`      // updates made
	BestStep   int64              `json:"best_step"`
	Metrics    map[string]float64 `json:"metrics" unit:"fraction"` // of the selected checkpoint
	Indexing   int                `json:"indexing_examples"`
	Retrieval  int                `json:"retrieval_examples"`

	Seconds       float64 `json:"seconds" unit:"s"`
	SecondsToBest float64 `json:"seconds_to_best" unit:"s"`

	// The first evaluation whose selecting metric is at least 95 % of the best
	// (figure "model scaling and training", hollow markers).
	StepsTo95   int64   `json:"steps_to_95_percent"`
	SecondsTo95 float64 `json:"seconds_to_95_percent" unit:"s"`
	MRRAt95     float64 `json:"mrr_at_95_percent" unit:"fraction"`

	Device    string `json:"device"`
	Threads   int    `json:"threads"`    // of one operation on the CPU
	ResumedAt int64  `json:"resumed_at"` // step at which the last process went on; 0: at the start

	ContinuedFrom int64  `json:"continued_from,omitempty"` // step of the state that another step with fewer steps had kept
	Stopped       string `json:"stopped,omitempty"`        // why steps are fewer than were asked for
}

// How models and results of two machines are compared. docs/reliability.md has the measurements: on the generated
// corpus, with AVX2 in place of AVX-512.

// sameModel takes two models as the same if their evaluations are as close as those of two seeds: the paper's
// deviations are 0.3 points. With few queries, chance moves more than that.
var sameModel = step.Evaluated{By: "evaluate", Output: "report", Of: "queries", Chance: 0.5,
	Fields: map[string]step.Margin{
		"percent.raw.*":           {Abs: 1},
		"percent.post_filtered.*": {Abs: 1},
	}}

// sameCurve allows losses and metrics on the way to a model to differ: they grow apart with the updates, metrics by
// more the fewer development queries there are.
var sameCurve = step.Numbers{Margin: step.Margin{Rel: 1e-6}, Fields: map[string]step.Margin{
	"points[].seconds":   {Skip: true},
	"points[].loss":      {Rel: 0.1},
	"points[].metrics.*": {Abs: 0.1},
}}

var sameReport = step.Numbers{Margin: step.Margin{Rel: 1e-6}, Fields: map[string]step.Margin{
	"seconds":               {Skip: true},
	"seconds_to_best":       {Skip: true},
	"seconds_to_95_percent": {Skip: true},
	"device":                {Skip: true},
	"threads":               {Skip: true},
	"resumed_at":            {Skip: true},
	"metrics.*":             {Abs: 0.1},
	"mrr_at_95_percent":     {Abs: 0.1},
	"best_step":             {Rel: 0.5},
	"steps_to_95_percent":   {Rel: 0.5},
}}

// sameRun and sameMeans compare what two machines retrieve with one model.
var (
	sameRun   = step.Runs{Depth: 10, Overlap: 0.98}
	sameMeans = step.Numbers{Margin: step.Margin{Abs: 0.5}}
)

// Rates are for updates of so many examples, and for searches with so many beams.
const ratedBatch, ratedBeams = 128, 40

// searches is the work of searching for a split's queries, several times.
func searches(unit step.Unit, times float64, beams int, queries step.Input, split string) step.Doing {
	return step.Doing{Unit: unit, Amount: step.Amount{Times: times * float64(beams) / ratedBeams, Of: step.Inputs{queries}, Count: "records." + split}}
}

// by sets the model and the identifiers of all the work.
func by(w step.Work, model, ids step.Input) step.Work {
	for i := range w.Does {
		w.Does[i].Model, w.Does[i].Identifiers = model, ids
	}
	return w
}

// like says that the model is the one in files.
func like(files step.Inputs) (w step.Work) {
	if len(files) > 0 { // a config.json is mostly in the first
		w.Like = files[0]
	}
	return w
}
