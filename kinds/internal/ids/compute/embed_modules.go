package compute

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/kinds/internal/ids"
)

// moduleFiles are what a folder of sentence-transformers says beside the model: its
// modules, and the configuration of each, wherever modules.json has it.
func moduleFiles(files []artifacts.File) []string {
	names := []string{"modules.json"}
	for _, f := range files {
		if path.Base(f.Name) == "config.json" && path.Dir(f.Name) != "." {
			names = append(names, f.Name)
		}
	}
	return names
}

// asPublished says how a configuration differs from what a folder of sentence-transformers
// computes, if it is one; the step computes what the configuration says.
func asPublished(c ids.EmbedConfig, folder string) (differences []string, err error) {
	var modules []struct{ Path, Type string }
	if ok, err := readModule(folder, "modules.json", &modules); err != nil || !ok {
		return nil, err
	}
	normalized := false
	for _, m := range modules {
		switch name := m.Type[strings.LastIndex(m.Type, ".")+1:]; name {
		case "Transformer":
		case "Normalize":
			normalized = true
		case "Pooling":
			var p struct {
				CLS     bool `json:"pooling_mode_cls_token"`
				Mean    bool `json:"pooling_mode_mean_tokens"`
				Max     bool `json:"pooling_mode_max_tokens"`
				Root    bool `json:"pooling_mode_mean_sqrt_len_tokens"`
				Weights bool `json:"pooling_mode_weightedmean_tokens"`
				Last    bool `json:"pooling_mode_lasttoken"`
			}
			name := path.Join(m.Path, "config.json")
			ok, err := readModule(folder, name, &p)
			if err != nil {
				return nil, err
			}
			if !ok {
				differences = append(differences, fmt.Sprintf("pooling is %q; the pooling that the model was published with is unknown, since %s is not among its files", c.Pooling, name))
				continue
			}
			var modes []string
			for _, mode := range []struct {
				on   bool
				name string
			}{{p.CLS, "cls"}, {p.Mean, "mean"}, {p.Max, "max"}, {p.Root, "mean over the root of the length"}, {p.Weights, "a weighted mean"}, {p.Last, "the last token"}} {
				if mode.on {
					modes = append(modes, mode.name)
				}
			}
			if published := strings.Join(modes, " and "); published != c.Pooling {
				differences = append(differences, fmt.Sprintf("pooling is %q, the model was published with %q", c.Pooling, published))
			}
		default:
			differences = append(differences, fmt.Sprintf("the model was published with a module %s, which redsi does not compute", name))
		}
	}
	if normalized && !c.Normalize {
		differences = append(differences, "normalize is false, the model was published with vectors of unit length")
	}
	return differences, nil
}

// readModule reads a file of JSON if it is there.
func readModule(folder, name string, v any) (bool, error) {
	if !filepath.IsLocal(name) {
		return false, fmt.Errorf("modules.json: %q is not below the folder", name)
	}
	text, err := os.ReadFile(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}
