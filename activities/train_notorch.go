//go:build notorch

package activities

import (
	"context"

	"github.com/redsi/redsi/internal/step"
	"github.com/redsi/redsi/internal/tensor"
)

func runRandomT5(context.Context, *step.IO, randomT5Config) error {
	return step.Permanent(tensor.Available())
}

func runTrain(context.Context, *step.IO, trainConfig) error {
	return step.Permanent(tensor.Available())
}
