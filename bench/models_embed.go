//go:build !notorch

package main

import (
	"fmt"

	"github.com/redsi/redsi/internal/bert"
	"github.com/redsi/redsi/internal/tensor"
)

// bertTexts are n documents: two thirds are as long as BERT reads.
func bertTexts(n int) (texts [][]int32) {
	d := draw(5)
	for i := range n {
		low := 512
		if i%3 == 2 {
			low = 100
		}
		texts = append(texts, d.sequences(1, low, 512)...)
	}
	return texts
}

// bertWork embeds 12 documents; the check is the first numbers of the first vector.
func bertWork(args []string) (*workload, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("%d arguments, want a model's folder", len(args))
	}
	m, err := bert.Load(args[0], tensor.CPU)
	if err != nil {
		return nil, err
	}
	texts := bertTexts(12)
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
