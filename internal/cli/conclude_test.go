package cli

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
)

// TestShared: a file of two publish blocks is refused with the names of both, also where only a
// file system takes the two names for one.
func TestShared(t *testing.T) {
	owners := map[string]string{}
	for i, c := range []struct{ block, to, files, want string }{
		{"n", "results/metrics", "metrics.json a/b", ""},
		{"s", "results/metrics/", "other.json", ""},
		{"t", "results/Metrics", "new.json metrics.json", "publish n writes the file results/Metrics/metrics.json, too"},
		{"u", "results", "metrics/a/b", "publish n writes the file results/metrics/a/b, too"},
		{"u", "results", "b", ""},
	} {
		var list []artifacts.File
		for name := range strings.FieldsSeq(c.files) {
			list = append(list, artifacts.File{Name: name})
		}
		err := shared(owners, c.block, c.to, list)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v", i, err)
		}
	}
}
