package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// launchLines compare counts, which tests hold against the code, and measure nothing.
var launchLines = []line{
	launchesOf("tiny", "F32"), launchesOf("small", "F32"), launchesOf("base", "F32"), launchesOf("base", "BF16"),
}

var launches = value{"launches", func(s sample) float64 { return s.Work }, false}

func launchesOf(size, dtype string) line {
	name := "launches/train_" + size
	if dtype != "F32" {
		name += "_" + dtype
	}
	return line{
		name: name, target: 2.5, value: launches, once: true, unlike: true,
		doc:  "kernels that a training step of T5 " + size + " in " + dtype + " asks of a card, against transformers 4.44.1, eager, in float32",
		ours: side{command: func(*env) ([]string, error) { return ours("launches", "step_counts.json", size+" "+dtype), nil }},
		peer: side{command: func(*env) ([]string, error) { return ours("launches", "launches.json", size), nil }},
	}
}

// countLaunches reads a golden of internal/model/train: ours by size and type, or transformers' by size.
func countLaunches(args []string) (sample, error) {
	if len(args) != 2 {
		return sample{}, fmt.Errorf("%d arguments, want a file and a size", len(args))
	}
	path := filepath.Join("internal", "model", "train", "fit", "testdata", args[0])
	data, err := os.ReadFile(path)
	if err != nil {
		return sample{}, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return sample{}, fmt.Errorf("%s: %w", path, err)
	}
	if train, ok := all["train"]; ok {
		if err := json.Unmarshal(train, &all); err != nil {
			return sample{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	var of struct{ Launches, Total float64 }
	if err := json.Unmarshal(all[args[1]], &of); err != nil {
		return sample{}, fmt.Errorf("%s: %q: %w", path, args[1], err)
	}
	return sample{Work: of.Launches + of.Total}, nil
}
