package compute

import (
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

// Halves are those of kinds and of their parts.
var Halves = []step.Half{
	step.Compute(model.RandomT5, runRandomT5),
	step.Compute(model.ImportModel, runImportModel),
	step.Compute(model.ImportTrained, runImportTrained),
	step.Compute(model.TrainQueries, runTrainQueries),
	step.Compute(model.GenerateShard.Spec, runGenerateShard),
	step.Compute(model.Train, runTrain),
	step.Compute(model.EvaluateShard.Spec, runEvaluateShard),
	step.Compute(model.ExportModel, runExportModel),
}
