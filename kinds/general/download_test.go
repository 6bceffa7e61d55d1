package general

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline/lockfile"
)

// TestLocalSources: what is not a file is refused with the way to name files.
func TestLocalSources(t *testing.T) {
	dir := t.TempDir()
	s, err := lockfile.Open(filepath.Join(dir, lockfile.Name), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		dir:         `urls takes files, not folders; a source block takes one as it lies: source "NAME" { path = "` + dir + `" }`,
		"*.fastq":   `urls takes no patterns; a source block does: source "NAME" { path = "*.fastq" }`,
		"a.fastq":   "no such file or directory",
		"nothing/x": "no such file or directory",
	} {
		_, err := resolveDownload(t.Context(), s, downloadConfig{URLs: []string{url}})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"https://example.org/*.gz", "gs://bucket/part-*.gz"} {
		if err := checkDownload(downloadConfig{URLs: []string{url}}); err == nil || !strings.Contains(err.Error(), "a server does not list its files") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
