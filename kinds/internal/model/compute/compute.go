// Package compute has the halves of kinds of package model that the second program computes.
package compute

import (
	"context"
	"runtime"

	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

var Halves = []step.Half{
	step.Compute(model.RandomT5, runRandomT5),
	step.Compute(model.ImportModel, runImportModel),
	step.Compute(model.ImportTrained, runImportTrained),
	step.Compute(model.TrainQueries, onThread(runTrainQueries)),
	step.Compute(model.GenerateShard.Spec, onThread(runGenerateShard)),
	step.Compute(model.Train, onThread(runTrain)),
	step.Compute(model.EvaluateShard.Spec, onThread(runEvaluateShard)),
	step.Compute(model.ExportModel, runExportModel),
}

// onThread runs a half on a thread of its own: libtorch keeps a pool of threads per thread that calls it.
func onThread[C any](run func(context.Context, *step.IO, C) error) func(context.Context, *step.IO, C) error {
	return func(ctx context.Context, x *step.IO, c C) error {
		defer func() { x.Log.Debug("the step ends", "tensors alive", tensor.Live()) }() // of all steps of this process
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return run(ctx, x, c)
	}
}

// openTokenizer opens a model's tokenizer, the caller's to close, and a reader of texts with it.
func openTokenizer[R any](x *step.IO, in step.Inputs, reader func(retrieve.Tokenizer) (R, error)) (tok *subword.Subword, read R, err error) {
	if tok, err = inout.OpenTokenizer(x, in, "tokenizer", subword.LoadSubword); err != nil {
		return nil, read, err
	}
	if read, err = reader(tok); err != nil {
		tok.Close()
	}
	return tok, read, step.Permanent(err)
}
