//go:build notorch

package model

import (
	"context"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/step"
)

func runImportModel(context.Context, *step.IO, importModelConfig) error {
	return step.Permanent(tensor.Available())
}

func runImportTrained(context.Context, *step.IO, importTrainedConfig) error {
	return step.Permanent(tensor.Available())
}
