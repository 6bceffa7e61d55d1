package safetensors

import (
	"path/filepath"
	"slices"
	"strings"
)

// WeightFiles are those that a model folder's weights are in, of any format, in the order
// in which transformers looks.
var WeightFiles = []string{"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"}

// Files are those of a model folder's files that its weights are read from.
func Files(names []string) (used []string) {
	for _, first := range WeightFiles {
		if !slices.Contains(names, first) {
			continue
		}
		used = append(used, first)
		if stem, ok := strings.CutSuffix(first, ".index.json"); ok { // the index says which of these
			for _, name := range names {
				if name != stem && filepath.Ext(name) == filepath.Ext(stem) {
					used = append(used, name)
				}
			}
		}
		break
	}
	return used
}
