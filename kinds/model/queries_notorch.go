//go:build notorch

package model

import (
	"context"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/step"
)

func runGenerateShard(context.Context, *step.IO, generateShardConfig) error {
	return step.Permanent(tensor.Available())
}

func runTrainQueries(context.Context, *step.IO, trainQueriesConfig) error {
	return step.Permanent(tensor.Available())
}
