package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// publicationFormat is the format of index.json, in which readers without the pipeline, such as python/redsi, find the
// result of a step: a static host lists nothing.
const publicationFormat, publicationName = "redsi-publication/1", "index.json"

type publicationIndex struct {
	Format string                      `json:"format"`
	Steps  []publishedStep             `json:"steps"` // by address
	before map[string]artifacts.Digest // keys of an earlier publication into the folder
}

type publishedStep struct {
	Address string           `json:"address"`
	Key     artifacts.Digest `json:"key"`
}

// readPublication reads the index of an earlier publication in a folder, if any; it refuses a file of somebody else.
func readPublication(folder string) (publicationIndex, error) {
	x := publicationIndex{before: map[string]artifacts.Digest{}}
	path := filepath.Join(folder, publicationName)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return x, nil
	} else if err != nil {
		return x, err
	}
	if err := json.Unmarshal(b, &x); err != nil || x.Format != publicationFormat {
		return x, fmt.Errorf("%s was not written by redsi publish and would be overwritten: publish into a folder of its own", path)
	}
	for _, s := range x.Steps {
		x.before[s.Address] = s.Key
	}
	return x, nil
}

// write adds or updates the published steps; others stay.
func (x publicationIndex) write(folder string, v *plan.Preview, published func(i int) bool) error {
	for i, it := range v.Items {
		if it.Outcome == plan.Hit && published(i) {
			x.before[v.Plan.Steps[i].Address] = it.Key
		}
	}
	x.Format, x.Steps = publicationFormat, []publishedStep{}
	for _, a := range slices.Sorted(maps.Keys(x.before)) {
		x.Steps = append(x.Steps, publishedStep{a, x.before[a]})
	}
	return atomicfile.WriteJSON(filepath.Join(folder, publicationName), x, " ", 0o644)
}
