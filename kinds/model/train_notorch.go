//go:build notorch

package model

import (
	"context"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/step"
)

func runRandomT5(context.Context, *step.IO, randomT5Config) error {
	return step.Permanent(tensor.Available())
}

func runTrain(context.Context, *step.IO, trainConfig) error {
	return step.Permanent(tensor.Available())
}
