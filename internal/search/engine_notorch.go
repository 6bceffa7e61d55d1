//go:build notorch

package search

import (
	"context"

	"github.com/redsi/redsi/internal/tensor"
)

// Engine cannot be opened in this build.
type Engine struct{}

// Open says which build can.
func Open(Files, []Card, Options) (*Engine, error) { return nil, tensor.Available() }

// Close does nothing.
func (*Engine) Close() error { return nil }

// About is empty.
func (*Engine) About() About { return About{} }

// Search says which build can.
func (*Engine) Search(context.Context, []string, int) ([]Answer, error) {
	return nil, tensor.Available()
}
