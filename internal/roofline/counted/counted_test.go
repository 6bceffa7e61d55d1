//go:build !notorch

package counted

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/roofline"
)

var (
	update = flag.Bool("update", false, "count again and write counts.json")
	only   = flag.String("of", "tiny,more,small,base,bert", "with -update, which of Models; what others were counted to have stays")
)

// TestCounts: counts.json has what operations of the smallest model are counted to have now.
// The others are counted with -update only.
func TestCounts(t *testing.T) {
	held := func(name string) (out []roofline.Counted) {
		for _, c := range roofline.Counts() {
			if c.By == name {
				out = append(out, c)
			}
		}
		return out
	}
	if *update {
		var all []roofline.Counted
		for _, name := range Models {
			if !slices.Contains(strings.Split(*only, ","), name) {
				all = append(all, held(name)...)
				continue
			}
			again, err := All(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, again...)
		}
		text, err := json.MarshalIndent(all, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("..", "counts.json"), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	again, err := All("tiny")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(normal(t, held("tiny")), normal(t, again)); d != "" {
		t.Errorf("counts.json differs (-there +now); if that is meant, `go test ./internal/roofline/counted -update`:\n%s", d)
	}
}

// normal is what JSON keeps.
func normal(t *testing.T, all []roofline.Counted) (out []roofline.Counted) {
	t.Helper()
	text, err := json.Marshal(all)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
