package artifacts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
)

// Usage is what results of one group have of a store's bytes.
type Usage struct {
	Name    string `json:"name"`
	Results int    `json:"results"`
	Bytes   int64  `json:"bytes"`      // of all blobs that they name, each once
	Only    int64  `json:"only_bytes"` // of the blobs that no result of another group names
}

// UsageBy says which groups a result belongs to, by the step that left it and the runs that name it.
type UsageBy func(step string, runs []string) []string

// Usages says what each group has, the largest first, and the store in all: whose Only are the bytes that no
// result names, such as plans and logs of runs.
func Usages(ctx context.Context, s Store, by UsageBy, tell Tell) (groups []Usage, all Usage, err error) {
	c, err := survey(ctx, s, tell)
	if err != nil {
		return nil, all, err
	}
	runs := map[Digest][]string{}
	for name, said := range c.said {
		if run := runOf(name); run != "" {
			for key := range said.names {
				if _, is := c.results[key]; is {
					runs[key] = append(runs[key], run)
				}
			}
		}
	}
	of := map[string]*Usage{}
	users := map[Digest]map[string]bool{} // groups, by blob
	for key, h := range c.results {
		for _, name := range by(h.step, runs[key]) {
			if of[name] == nil {
				of[name] = &Usage{Name: name}
			}
			of[name].Results++
			for _, d := range h.blobs {
				if users[d] == nil {
					users[d] = map[string]bool{}
				}
				users[d][name] = true
			}
		}
	}
	all.Results, all.Bytes = len(c.results), sizeOf(maps.Values(c.blobs))
	for d, info := range c.blobs {
		for name := range users[d] {
			of[name].Bytes += info.Size
			if len(users[d]) == 1 {
				of[name].Only += info.Size
			}
		}
		if users[d] == nil {
			all.Only += info.Size
		}
	}
	for u := range maps.Values(of) {
		groups = append(groups, *u)
	}
	slices.SortFunc(groups, func(a, b Usage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name))
	})
	return groups, all, nil
}
