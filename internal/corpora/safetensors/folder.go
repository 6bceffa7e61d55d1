package safetensors

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// WeightFiles are a model folder's weight files, of any format, in the order in which transformers looks for them.
var WeightFiles = []string{"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"}

// Files returns the files of a model folder that its weights are read from.
func Files(names []string) (used []string) {
	for _, first := range WeightFiles {
		if !slices.Contains(names, first) {
			continue
		}
		used = append(used, first)
		if stem, ok := strings.CutSuffix(first, ".index.json"); ok { // the index says which of these
			used = append(used, lists.Filter(names, func(name string) bool { return name != stem && filepath.Ext(name) == filepath.Ext(stem) })...)
		}
		break
	}
	return used
}
