package model

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/ranking/doc2query"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type generateConfig struct {
	generating
	Documents step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Queries   step.Input  `hcl:"queries" accepts:"nq/queries" help:"its queries; queries of dev and test are never generated"`
	Files     step.Inputs `hcl:"files,optional" accepts:"files,file" help:"instead of a model: queries generated elsewhere, plain or compressed: JSON lines with the fields document and query, or queries, a list; or columns with tabs between them: document, query"`
	Names     string      `hcl:"names,optional" enum:"key,number" help:"what files call a document: its key, which is its name outside redsi, or its number in the collection, from 0"`
	MaxInput  *int        `hcl:"max_input,optional" min:"1" help:"first tokens of a document that the model reads, prefix and special tokens not counted; default: as in the model's training here, else 512"`
	Prefix    *string     `hcl:"prefix,optional" help:"text whose tokens stand before each document; default: as in the model's training here, else none"`
	Lowercase *bool       `hcl:"lowercase,optional" help:"lower-case documents first; default: as in the model's training here, else no"`
	KeepTrain bool        `hcl:"keep_train,optional" help:"the collection's own training queries are among the result; false: only generated queries are training queries"`
	Shard     int         `hcl:"shard,optional" min:"1" help:"documents of a part, which is cached and resumed as one"`
}

// generating is what a generate_queries step and its parts have in common.
type generating struct {
	Corpus        step.Input  `hcl:"corpus,optional" accepts:"nq/corpus" help:"texts of the documents, which the model reads"`
	Model         step.Input  `hcl:"model,optional" accepts:"files,hf/model" help:"Hugging Face folder of a model that writes a query for a text, from elsewhere or from kind train_queries: config.json and model.safetensors or pytorch_model.bin"`
	Tokenizer     step.Inputs `hcl:"tokenizer,optional" accepts:"files" help:"the model's tokenizer.json"`
	PerDocument   int         `hcl:"per_document,optional" min:"1" help:"queries that are generated for a document, before any is left out"`
	Method        string      `hcl:"method,optional" enum:"sample,beam" help:"sample: tokens are drawn, as doc2query does; beam: the best of a beam search"`
	TopK          int         `hcl:"top_k,optional" min:"0" help:"for samples: tokens that may be drawn, the most probable ones; 0: all"`
	TopP          float64     `hcl:"top_p,optional" above:"0" max:"1" help:"for samples: the fewest of these tokens that have this share of their probability; 1: all"`
	Temperature   float64     `hcl:"temperature,optional" above:"0" help:"for samples: divides the scores"`
	Seed          int         `hcl:"seed,optional" min:"0" help:"for samples"`
	Beams         int         `hcl:"beams,optional" min:"0" help:"for beam search; 0: as many as per_document"`
	LengthPenalty float64     `hcl:"length_penalty,optional" help:"for beam search: a hypothesis scores its log-probability / length^length_penalty"`
	EarlyStopping string      `hcl:"early_stopping,optional" enum:"full,heuristic,never" help:"for beam search: when it ends, as True, False and never of transformers 4.44.1"`
	MaxTokens     int         `hcl:"max_tokens,optional" min:"1" help:"tokens of a query at most, the end of sequence among them"`
	Precision     string      `hcl:"precision,added" enum:"fp32,bf16,int8" help:"precision of matrix products; bf16 is faster than fp32 on cards and on processors with instructions for it, int8 is faster still, on processors only"`
	Batch         int         `hcl:"batch,optional,nokey" min:"0" help:"documents decoded together: memory grows with it, scores differ by rounding only; 0: 8, on a card as many as it has room for"`
	Device        string      `hcl:"device,optional,nokey" help:"cpu, cuda, cuda:1 …; auto: a free card of the worker, else the CPU"`
}

const bySample, ByBeam = "sample", "beam"

var generateDefaults = generateConfig{generating: generating{PerDocument: 5, Method: bySample, TopK: 10, TopP: 1, Temperature: 1, Seed: 42,
	LengthPenalty: 1, EarlyStopping: string(stopping.Heuristic), MaxTokens: 64, Precision: "fp32", Device: "auto"}, Names: "key", KeepTrain: true, Shard: 1024}

var GenerateQueries = step.Define(step.Kind[generateConfig]{
	Name:    "generate_queries",
	Version: 1,
	Doc: `Generate the queries that documents might be asked for, as training queries (DSI-QG, doc2query; not in the paper).
A sequence-to-sequence model reads a document's text and writes queries: a published one, such as castorini's
doc2query, or one that kind train_queries trained on the collection's own. Or files bring queries that were
generated elsewhere. Samples are drawn by the probabilities of transformers' temperature, top_k and top_p; a draw
depends on seed, document and number of the sample, and on nothing else but the rounding of scores.
Left out, and counted: queries that are development or test queries of the collection, which would leak; those that
their document has already; those without letters and digits. Two queries are the same if their letters and digits
are, in lower case. The result is a collection's queries, for train with ratio = "0:1" as in DSI-QG; evaluate takes
the collection's own, or all documents would count as seen.
Resumes part by part. Cost: a forward pass of the encoder for each document, and one of the decoder for each token
that is written; each part reads the corpus up to its last document. Memory: the model, batch x per_document
sequences, the own training queries, and some 40 bytes for each query that is kept; with files, all their queries.`,
	Example: `step "generate_queries" "title" {
  documents = step.dedup.nq["title"].documents
  queries   = step.dedup.nq["title"].queries
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  model     = step.train_queries.title.model
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: []step.Output{
		{Name: "queries", Type: "nq/queries", Help: "the collection's queries, and after them the generated ones, in train, named generated-DOCUMENT-NUMBER",
			Alike: step.Follows{Output: "report"}, Why: "rounding can turn a draw into another query"},
		{Name: "report", Type: "report", Help: "how many were generated, kept and left out, and examples, as JSON", Fields: step.FieldsOf[doc2query.Report](),
			Alike: sameGenerated, Why: "rounding can turn a draw into another query"},
	},
	Defaults: generateDefaults,
	Queue:    step.GPU,
	Check: inout.Checks(func(c generateConfig, ps *step.Problems) {
		inout.CheckDevice(ps, c.Device, c.Precision)
		inout.Check(ps, "model", c.Model.Set() != (len(c.Files) > 0), "set either model, which generates queries, or files, which contain them")
		inout.Check(ps, "corpus", !c.Model.Set() || c.Corpus.Set() && len(c.Tokenizer) > 0, "a model needs corpus, whose texts it reads, and its tokenizer")
		inout.Check(ps, "beams", c.Method != ByBeam || c.Beams == 0 || c.Beams >= c.PerDocument, "must be 0 or at least per_document")
	}),
	Parts: []step.Spec{GenerateShard.Spec},
	Split: splitGenerate,
	Run:   joinGenerated,
})

// sameGenerated takes two results as the same if about as many queries were kept.
var sameGenerated = step.Numbers{Margin: step.Margin{Rel: 0.1}, Fields: map[string]step.Margin{
	"documents_with_queries": {Rel: 0.1}, "kept": {Rel: 0.1}, "leaks": {Skip: true}, "repeated": {Skip: true}, "known": {Skip: true}, "empty": {Skip: true},
	"shared": {Skip: true}, "examples": {Skip: true}, "leaked": {Skip: true},
}}

// GenerateShardConfig is some documents of a generate_queries step. Attributes that its method does not use have their
// defaults.
type GenerateShardConfig struct {
	generating
	MaxInput  int    `hcl:"max_input" help:"of a document"`
	Prefix    string `hcl:"prefix" help:"before a document"`
	Lowercase bool   `hcl:"lowercase" help:"documents"`
	From      int    `hcl:"from" help:"first document"`
	To        int    `hcl:"to" help:"document after the last"`
}

var GenerateShard = step.DefinePart(step.Kind[GenerateShardConfig]{
	Name:    "generate_queries_shard",
	Version: 1,
	Doc:     "Some documents of a generate_queries step.",
	Outputs: []step.Output{{Name: "generated", Type: "doc2query/generated", Help: "JSON lines, compressed: document, number and query",
		Fields: step.FieldsOf[doc2query.Generated](), Alike: step.OfTheRun{}, Why: "the step compares the complete result"}},
	Defaults: GenerateShardConfig{generating: generating{Precision: generateDefaults.Precision}},
	Queue:    step.GPU,
	Needs:    step.Libtorch,
	Device:   func(c GenerateShardConfig) string { return c.Device },
})

// splitGenerate cuts a collection into parts; queries from files need none.
func splitGenerate(_ context.Context, x *step.IO, c generateConfig) ([]step.Task, error) {
	if !c.Model.Set() {
		return nil, nil
	}
	text, err := File(x, c.Model, doc2query.SettingsFile)
	if err != nil {
		return nil, err
	}
	settings, err := doc2query.ParseSettings(text)
	if err != nil {
		return nil, step.Permanent(fmt.Errorf("model: %w", err))
	}
	keys, err := inout.DocumentKeys(x, c.Documents)
	if err != nil {
		return nil, err
	}
	p := GenerateShardConfig{generating: c.generating, MaxInput: inout.Or(c.MaxInput, settings.MaxInput), Prefix: inout.Or(c.Prefix, settings.Prefix),
		Lowercase: inout.Or(c.Lowercase, settings.Lowercase)}
	p.Beams = max(c.Beams, c.PerDocument)
	d := generateDefaults
	if c.Method == ByBeam {
		p.TopK, p.TopP, p.Temperature, p.Seed = d.TopK, d.TopP, d.Temperature, d.Seed
	} else {
		p.Beams, p.LengthPenalty, p.EarlyStopping = d.Beams, d.LengthPenalty, d.EarlyStopping
	}
	var parts []GenerateShardConfig
	for from := 0; from < len(keys); from += c.Shard {
		p.From, p.To = from, min(from+c.Shard, len(keys))
		parts = append(parts, p)
	}
	return inout.Tasks(GenerateShard, parts)
}

func joinGenerated(ctx context.Context, x *step.IO, c generateConfig) error {
	keys, err := inout.DocumentKeys(x, c.Documents)
	if err != nil {
		return err
	}
	each := generatedParts(x)
	if !c.Model.Set() {
		if each, err = c.broughtQueries(ctx, x, keys); err != nil {
			return err
		}
	}
	m := &doc2query.Merge{KeepTrain: c.KeepTrain, Documents: len(keys)}
	if err := inout.Scan(x, c.Queries, "queries", m.Own); err != nil {
		return err
	}
	err = inout.Write(x, "queries", func(w io.Writer) error {
		return inout.Scan(x, c.Queries, "", func(own io.Reader) error { return m.Write(w, own, each) })
	})
	if err != nil {
		return err
	}
	if m.Kept == 0 {
		return step.Permanent(fmt.Errorf("none of the %d generated queries can be kept: %d are development or test queries, %d are there already, %d have no letters or digits",
			m.Generated, m.Leaks, m.Repeated+m.InTraining, m.Empty))
	}
	return inout.WriteReport(x, m.Report, map[string]int{"generated_queries": m.Generated, "kept_queries": m.Kept,
		"leaks_left_out": m.Leaks})
}

// generatedParts yields the queries that the parts generated, in the order of documents.
func generatedParts(x *step.IO) func(func(doc2query.Generated) error) error {
	return func(yield func(doc2query.Generated) error) error {
		for _, p := range x.Parts() {
			err := inout.Scan(x, step.In(p.Outputs["generated"]), "", func(r io.Reader) error {
				return dedup.ReadLines(r, func(line []byte) error {
					var g doc2query.Generated
					if err := values.Written(line, &g); err != nil {
						return err
					}
					return yield(g)
				})
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// broughtQueries reads queries generated elsewhere; a document's queries stay in the order of the files.
func (c generateConfig) broughtQueries(ctx context.Context, x *step.IO, keys []string) (func(func(doc2query.Generated) error) error, error) {
	places := make(map[string]int32, len(keys))
	for i, key := range keys {
		if c.Names == "number" {
			key = fmt.Sprint(i)
		}
		if j, ok := places[key]; ok {
			return nil, step.Permanent(fmt.Errorf("documents %d and %d are both called %q, so it is unclear which one a query is for: name documents by number", j, i, key))
		}
		places[key] = int32(i)
	}
	brought := make([][]string, len(keys))
	err := inout.EachRecord(x, c.Files, "queries", "", func(r inout.Record) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		place, ok := places[r.Document]
		if !ok {
			return fmt.Errorf("%s: %q is not one of the %d documents", r.Place, r.Document, len(keys))
		}
		var list []string
		if err := r.List(&list, "queries", "predicted_queries"); err != nil {
			return err
		}
		one, err := r.Text(0, "query", "text")
		if err != nil {
			return err
		}
		if one != "" {
			list = append(list, one)
		}
		if len(list) == 0 {
			return fmt.Errorf("%s: document %q has no query there: want the field query, or queries", r.Place, r.Document)
		}
		for _, q := range list {
			brought[place] = append(brought[place], strings.ToValidUTF8(q, "\ufffd"))
		}
		return nil
	})
	return func(yield func(doc2query.Generated) error) error {
		for doc, list := range brought {
			for n, q := range list {
				if err := yield(doc2query.Generated{Doc: int32(doc), Number: n, Query: q}); err != nil {
					return err
				}
			}
		}
		return nil
	}, err
}

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
	Defaults: TrainQueriesConfig{Fitting: fitting(100_000), MaxInput: 512, MaxQuery: 64, Lowercase: true, DevQueries: 1000},
	Queue:    step.GPU,
	Needs:    step.Libtorch,
	Device:   func(c TrainQueriesConfig) string { return c.Device },
	Check:    inout.Checks(func(c TrainQueriesConfig, ps *step.Problems) { c.Fitting.check(ps) }),
	Work:     func(c TrainQueriesConfig) step.Work { return step.Work{Like: c.Model} },
})

// sameQueriesReport takes two models as the same if they find development queries about as likely.
var sameQueriesReport = step.Numbers{Margin: step.Margin{Rel: 1e-6}, Fields: map[string]step.Margin{
	"seconds": {Skip: true}, "device": {Skip: true}, "threads": {Skip: true}, "resumed_at": {Skip: true},
	"dev_loss": {Rel: 0.02}, "dev_perplexity": {Rel: 0.1}, "best_step": {Rel: 0.5},
}}

// Likelihood is the metric that selects: e to minus the mean loss of a token.
const Likelihood = "likelihood"
