package compute

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/model/here"
	"github.com/redsi/redsi/internal/model/index"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/model/train/fit"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

// training is a train step, or another step's training in its terms.
type training struct{ model.TrainConfig }

// search returns how the model is searched, in its evaluations and from then on.
func (c training) search() retrieve.Search {
	return retrieve.Search{EarlyStopping: stopping.Rule(c.EarlyStopping), Validity: retrieve.Validity(c.Validity)}
}

func runTrain(ctx context.Context, x *step.IO, config model.TrainConfig) error {
	c := training{config}
	device, err := deviceOf(ctx, c.Fitting)
	if err != nil {
		return err
	}
	ids, err := inout.ReadIDs(x, c.IDs)
	if err != nil {
		return err
	}
	settings, err := retrieve.SettingsFor(ids, retrieve.Inputs{MaxInput: c.MaxInput, MaxQuery: c.MaxQuery,
		IndexPrefix: c.IndexPrefix, QueryPrefix: c.QueryPrefix, Lowercase: c.Lowercase})
	if err != nil {
		return err
	}
	settings.Search = c.search()
	tok, read, err := openTokenizer(x, c.Tokenizer, settings.Inputs.Reader)
	if err != nil {
		return err
	}
	defer tok.Close()
	catalog, err := index.NewCatalog(ids, tok)
	if err != nil {
		return step.Permanent(fmt.Errorf("ids: %w", err))
	}
	data, err := trainingData(ctx, x, c.Corpus, c.Queries, ids, read, c.Repeats == model.ByQueries)
	if err != nil {
		return err
	}
	dev, err := readQueries(x, c.Queries, nq.Dev, ids, read)
	if err != nil {
		return err
	}
	if err := c.continues(x, ids); err != nil {
		return err
	}
	m, err := c.model(x, device)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := c.extend(m, ids, data, dev, tok); err != nil {
		return err
	}
	learner, err := c.learner(m)
	if err != nil {
		return err
	}
	defer learner.Close()
	judge, err := newJudge(x, c, m, catalog, ids, dev)
	if err != nil {
		return err
	}
	ratio, _ := train.ParseRatio(c.Ratio) // checked, as select is
	selected, _ := c.Selected()
	out, err := fitted(ctx, x, c.Fitting, learner, settings.Write, train.Task{
		Config: train.Config{Ratio: ratio, Schedule: c.Rates(), Select: selected, Patience: c.Patience},
		Data:   data, Vocabulary: int(m.Vocabulary().Size), Evaluate: judge.evaluate, Onward: c.onward(x), Keep: c.KeepState,
	})
	if err != nil {
		return err
	}
	if out.Onto > 0 {
		x.Note("went on from", fmt.Sprintf("step %d of a run with fewer steps", out.Onto))
		x.Log.Info("training went on from what a run with fewer steps had kept", "step", out.Onto)
	}
	if out.Curve.Stopped != "" {
		x.Log.Info("training ended early", "step", out.Steps, "why", out.Curve.Stopped)
	}
	x.Count("development_queries", int64(len(dev)))
	r := newTrainReport(out.Curve, out.Best)
	r.Parameters, r.Steps, r.ResumedAt = seq2seq.ParameterCount(m.Config), out.Steps, out.From
	r.ContinuedFrom, r.Stopped = out.Onto, out.Curve.Stopped
	r.Indexing, r.Retrieval = len(data.Indexing), len(data.Retrieval)
	r.Device, r.Threads = device.String(), tensor.NumThreads()
	return inout.WriteJSON(x, "report", r)
}

func deviceOf(ctx context.Context, c model.Fitting) (tensor.Device, error) {
	device, err := here.Of(ctx, c.Device)
	if err == nil && c.Precision == "fp16" && !device.IsCUDA() { // device = "auto" where there is no card
		err = step.Permanent(fmt.Errorf("precision: %w", fit.ErrFP16))
	}
	return device, err
}

// fitted trains a model and writes the outputs of every training except the report: the model with its settings, and
// the curve. It fills in the part of the task that all trainings share.
func fitted(ctx context.Context, x *step.IO, c model.Fitting, learner *fit.Seq2Seq, settings func(folder string) error, t train.Task) (*train.Outcome, error) {
	folder, err := x.Scratch()
	if err != nil {
		return nil, err
	}
	t.Steps, t.Batch, t.Seed, t.EvaluateEvery = int64(c.Steps), c.Batch, int64(c.Seed), int64(c.EvaluateEvery)
	t.CheckpointEvery, t.CheckpointAfter = int64(c.CheckpointEvery), checkpointAfter
	t.Learner, t.Checkpoints, t.Folder = learner, folderCheckpoints{x.Checkpoints()}, folder
	t.Report = func(p train.Progress) {
		x.Report(step.Progress{Done: p.Done, Total: p.Total, Unit: p.Unit, Note: p.Note, LeftS: p.Left.Seconds()})
	}
	evaluate := t.Evaluate
	t.Evaluate = func(ctx context.Context, at int64) (map[string]float64, error) {
		if n := learner.Skipped(); n > 0 {
			x.Log.Warn("updates were left out: fp16 overflowed", "step", at, "updates", n, "share", fmt.Sprintf("%.2f %%", 100*float64(n)/float64(at)))
		}
		return evaluate(ctx, at)
	}
	out, err := train.Train(ctx, t)
	if err != nil {
		return nil, trainError(err)
	}
	if err := settings(out.Model); err != nil {
		return nil, err
	}
	if err := inout.CopyFolder(ctx, x, "model", out.Model); err != nil {
		return nil, err
	}
	inout.Count(x, map[string]int{"updates": int(out.Steps), "updates_left_out": int(learner.Skipped())})
	logRecorded(x, learner.Recorded())
	start := time.Now().Add(-time.Duration(out.Curve.Seconds() * float64(time.Second)))
	return out, inout.WriteAll(x, map[string]func(io.Writer) error{"curve": out.Curve.Write,
		"events": func(w io.Writer) error { return out.Curve.WriteEvents(w, start) }}) // for TensorBoard
}

// onward returns the states that shorter runs kept, for this run to continue from and to add to; nil for none.
func (c training) onward(x *step.IO) train.Checkpoints {
	kept := x.Trajectory(int64(c.Steps))
	if kept == nil {
		if c.KeepState && c.Rates().DependsOnSteps() {
			x.Log.Warn("no state is kept or continued from: the rate of each update depends on steps", "schedule", c.Schedule)
		}
		return nil
	}
	return folderCheckpoints{kept}
}

// checkpointAfter bounds the work that the loss of a worker costs.
const checkpointAfter = 10 * time.Minute

// trainError marks as permanent what a retry would compute likewise. A failure of a store or disk is retried, from
// the newest checkpoint.
func trainError(err error) error {
	_, diverged := errors.AsType[*train.DivergedError](err)
	_, data := errors.AsType[*train.DataError](err)
	_, computing := errors.AsType[*tensor.Error](err)
	if diverged || data || computing {
		return inout.DataError(err)
	}
	return err
}

// continues checks that ids can be used to train a model further that redsi trained.
func (c training) continues(x *step.IO, ids *docid.Set) error {
	if _, ok := c.Model.Artifact.File(retrieve.SettingsFile); !ok || c.Init == "random" {
		return nil
	}
	settings, err := model.Settings(x, c.Model)
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	other := settings.Match(ids)
	if other != nil && settings.Identifiers.GrowsVocabulary() {
		return step.Permanent(fmt.Errorf("model: its %s identifiers are rows of its vocabulary, and others would be taken for them: %w, or start from the model that its train step started from",
			settings.Identifiers, other))
	}
	if other != nil {
		x.Log.Info("training continues with other identifiers than before", "were", string(settings.Identifiers), "are", string(ids.Kind))
	}
	return nil
}

// model loads the weights that training starts from, or draws them.
func (c training) model(x *step.IO, device tensor.Device) (*seq2seq.Model, error) {
	names := inout.ModelFiles(x, c.Model)
	if c.Init == "random" {
		names = names[:1]
	}
	folder, err := inout.StageTree(x, c.Model, names...)
	if err != nil {
		return nil, err
	}
	var m *seq2seq.Model
	if c.Init == "random" {
		var config seq2seq.Config
		if config, err = models.ReadConfig(folder); err == nil {
			m, err = seq2seq.Init(config, uint64(c.Seed), device)
		}
	} else {
		m, err = models.Load(folder, device)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; want config.json and, unless init is random, model.safetensors or pytorch_model.bin", err)
	}
	if err != nil {
		return nil, step.Permanent(fmt.Errorf("model: %w", err))
	}
	logUnused(x, m.Unused)
	if c.Dropout != nil {
		m.SetDropout(*c.Dropout)
	}
	m.Compute, _ = tensor.ParseDType(c.Precision) // checked
	warnSlow(x, m)
	return m, nil
}

// extend adds rows for the identifiers' own tokens, and checks that the vocabulary has those of texts and identifiers.
func (c training) extend(m *seq2seq.Model, ids *docid.Set, data *train.Data, dev []query, tok *subword.Subword) error {
	size := m.Vocabulary().Size
	inputs := func(yield func([]int32) bool) {
		for _, examples := range [][]train.Example{data.Indexing, data.Retrieval} {
			for _, e := range examples {
				if !yield(e.Input) {
					return
				}
			}
		}
		for _, q := range dev {
			if !yield(q.tokens) {
				return
			}
		}
	}
	for tokens := range inputs {
		for _, t := range tokens {
			if int64(t) >= size {
				return step.Permanent(fmt.Errorf("tokenizer gives token %d, the model's vocabulary has %d: they do not belong together", t, size))
			}
		}
	}
	if ids.Kind.GrowsVocabulary() {
		first, last := ids.TokenRange()
		// NOTE existing rows that no text uses are taken as they are. Rows that few documents leave over stay;
		// transformers would cut them off.
		if least := tok.VocabSize(); int(first) < least || int64(first) > size {
			return step.Permanent(fmt.Errorf("ids: the identifiers begin at token %d; the tokenizer has %d tokens and the model %d rows for them: make them by %s_ids with a first_token from %d to %d",
				first, least, size, ids.Kind, least, size))
		}
		if grown := int64(last) + 1 - size; grown > 0 {
			if err := m.Extend(grown, uint64(c.Seed)<<32|1); err != nil { // other numbers than any seed's random weights
				return step.Permanent(err)
			}
		}
	}
	size = m.Vocabulary().Size
	for _, id := range ids.Identifiers {
		if ids.Kind.OneToken() && len(id.Tokens) == 1 {
			continue
		}
		if last := id.Tokens[len(id.Tokens)-1]; int64(last) != m.Vocabulary().EOS {
			return step.Permanent(fmt.Errorf("ids: identifier %s of document %s ends with token %d, the model's sequences with eos_token_id %d: make them with the model's tokenizer", id.Text, id.Document, last, m.Vocabulary().EOS))
		}
		for _, t := range id.Tokens {
			if int64(t) >= size {
				return step.Permanent(fmt.Errorf("ids: identifier %s of document %s has token %d, the model's vocabulary has %d: make them with the model's tokenizer", id.Text, id.Document, t, size))
			}
		}
	}
	return nil
}

func (c training) learner(m *seq2seq.Model) (*fit.Seq2Seq, error) {
	o, err := c.optimizer(m)
	if err != nil {
		return nil, step.Permanent(err)
	}
	m.Smoothing, m.Checkpoint = c.LabelSmoothing, c.Recompute
	l, err := fit.NewSeq2Seq(m, o, int64(c.Seed))
	if err != nil {
		return nil, step.Permanent(fmt.Errorf("precision: %w", err))
	}
	l.Accumulate, l.ClipNorm = c.Accumulate, c.ClipNorm
	return l, nil
}

// optimizer returns the step's optimizer, before its first update.
func (c training) optimizer(m *seq2seq.Model) (optimizer.Optimizer, error) {
	if c.Optimizer == model.AdamW {
		return optimizer.NewAdamW(m.Params, optimizer.AdamWOptions{Beta1: c.Beta1, Beta2: c.Beta2, Eps: c.Epsilon, WeightDecay: c.WeightDecay})
	}
	options := optimizer.AdafactorDefaults()
	options.ScaleParameter = c.ScaleParameter
	return optimizer.NewAdafactor(m.Params, options)
}

// logRecorded logs how a GPU computed the updates of a training; for CPUs it logs nothing.
func logRecorded(x *step.IO, r fit.Recorded) {
	switch {
	case r.Failed != nil:
		x.Log.Warn("an update could not be recorded: the GPU runs one operation at a time", "why", r.Failed, "recorded", r.Graphs, "replayed", r.Replays)
	case r.Graphs > 0:
		x.Log.Info("updates were recorded and replayed", "recorded", r.Graphs, "replayed", r.Replays, "one operation at a time", r.Single)
	case r.Single > 0 && !r.Possible:
		x.Log.Info("the GPU runs one operation at a time", "why", tensor.Card().GraphsReason)
	}
}

func newTrainReport(c *train.Curve, best train.Point) model.TrainReport {
	r := model.TrainReport{BestStep: best.Step, Metrics: best.Metrics, SecondsToBest: best.Seconds, Seconds: c.Seconds()}
	for _, p := range c.Points {
		if p.Metrics[c.Select] >= 0.95*best.Metrics[c.Select] {
			r.StepsTo95, r.SecondsTo95, r.MRRAt95 = p.Step, p.Seconds, p.Metrics["MRR@10"]
			break
		}
	}
	return r
}

// folderCheckpoints keeps the folders that train writes as a step's checkpoints, for any worker that runs the same key.
type folderCheckpoints struct{ kept step.Checkpoints }

func (c folderCheckpoints) Save(ctx context.Context, n int64, folder string) error {
	files := map[string]artifacts.File{}
	err := inout.EachFile(folder, func(name string, in io.Reader) (err error) {
		files[name], err = c.kept.Put(ctx, name, in)
		return err
	})
	if err != nil {
		return err
	}
	return c.kept.Save(ctx, n, files)
}

// Latest empties folder and writes a checkpoint's files into it, for use to read.
func (c folderCheckpoints) Latest(ctx context.Context, folder string, use func(n int64) error) (bool, error) {
	return c.kept.Latest(ctx, func(n int64, files map[string]artifacts.File) error {
		if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
			return err
		}
		for name, f := range files {
			r, err := c.kept.Open(ctx, f)
			if err == nil {
				err = errors.Join(local.Create(folder, name, 0o644, r), r.Close())
			}
			if err != nil {
				return err
			}
		}
		err := use(n)
		if _, beyond := errors.AsType[*train.BeyondError](err); beyond {
			return step.Beyond(err)
		}
		if _, unfit := errors.AsType[*train.UnfitError](err); unfit {
			return step.Unfit(err)
		}
		return err
	})
}
