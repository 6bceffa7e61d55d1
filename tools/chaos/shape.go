//go:build linux

package main

import (
	"embed"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// files are what a round's folder begins with: the pipeline, its steps' scripts, and a small collection.
//
//go:embed pipeline
var files embed.FS

// shape says how large a pipeline is, which reads it. Pipelines of one shape are equal.
type shape struct {
	Name    string `json:"name"`
	Fast    int    `json:"fast"`    // steps without inputs that end at once, and as many that read one each
	Slow    int    `json:"slow"`    // steps that take a while and say how far they are
	Tenths  int    `json:"tenths"`  // of a second, that a slow one takes
	Once    int    `json:"once"`    // steps that die the first time
	Pieces  int    `json:"pieces"`  // steps that the result of another step decides
	Corpus  bool   `json:"corpus"`  // a collection, imported in parts
	Private bool   `json:"private"` // a step of its own for each value of the variable "run"
	Updates int    `json:"updates"` // of a small model's training, with a checkpoint at each tenth of them
}

// Rounds choose from shapes; the others belong to some faults.
var (
	shapes = []shape{
		{Name: "small", Fast: 6, Slow: 2, Tenths: 10, Once: 1},
		{Name: "parts", Fast: 4, Slow: 2, Tenths: 8, Once: 1, Corpus: true},
		{Name: "slow", Fast: 3, Slow: 3, Tenths: 25},
		{Name: "wide", Fast: 18, Slow: 1, Tenths: 5, Once: 2},
		{Name: "pieces", Fast: 4, Slow: 2, Tenths: 12, Once: 1, Pieces: 20},
	}
	trains = shape{Name: "training", Fast: 4, Slow: 3, Tenths: 40, Corpus: true, Updates: 1500}
	// brief has many steps that batches do, for as long as it takes to meet them.
	brief     = shape{Name: "brief", Fast: 6, Slow: 14, Tenths: 7, Once: 1, Pieces: 6, Corpus: true}
	long      = shape{Name: "long", Fast: 20, Slow: 8, Tenths: 60}
	shared    = shape{Name: "shared", Fast: 6, Slow: 2, Tenths: 20, Once: 1, Private: true}
	thousands = shape{Name: "thousands", Fast: 500, Slow: 8, Tenths: 50, Once: 10, Pieces: 980}
)

func shapeOf(r *rand.Rand) shape { return shapes[r.IntN(len(shapes))] }

// steps counts the pipeline's table and, at least, its steps that leave marks.
func (s shape) steps() int { return 2*s.Fast + s.Slow + s.Once + s.Pieces + 2 }

// write writes the pipeline into a folder.
func (s shape) write(dir string) error {
	from, err := fs.Sub(files, "pipeline")
	if err == nil {
		err = os.CopyFS(dir, from)
	}
	if err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "shape.json"), b, 0o644)
}

// training begins the names of a training's outputs.
const training = "step.train.small."

// markOf returns the mark that the step of an address leaves; "" unless it is a command step.
func markOf(address string) string {
	name, ok := strings.CutPrefix(address, "step.command.")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(strings.Replace(name, `["`, "-", 1), `"]`)
}

// marks counts how often each step has begun, without the first time of steps that die then.
func marks(dir string) map[string]int {
	out := map[string]int{}
	for _, path := range within(dir, "*") {
		name := filepath.Base(path)
		if b, err := os.ReadFile(path); err == nil && !strings.HasPrefix(name, "died.") {
			out[name] = strings.Count(string(b), "\n")
			if strings.HasPrefix(name, "once-") {
				out[name]--
			}
		}
	}
	return out
}
