package main

import (
	"fmt"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/tensor"
)

// bertWork embeds 12 documents; the check is the first numbers of the first vector.
func bertWork(args []string) (*workload, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("%d arguments, want a model's folder", len(args))
	}
	m, err := bert.Load(args[0], tensor.CPU)
	if err != nil {
		return nil, err
	}
	draw := drawn.Numbers(5)
	texts := draw.Texts(12)
	w := &workload{close: m.Close}
	w.run = func() (float64, error) {
		vectors, err := m.Embed(texts, bert.CLS, 4096)
		if err == nil {
			w.check = fmt.Sprintf("%.3f", vectors[0][:4])
		}
		return float64(len(texts)), err
	}
	return w, nil
}
