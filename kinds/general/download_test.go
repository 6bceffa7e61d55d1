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
		dir:         "is not a regular file; a folder is written with a slash at its end",
		"*.fastq":   "no file in " + dir + " fits *.fastq",
		"a.fastq":   "no such file or directory",
		"nothing/x": "no such file or directory",
	} {
		_, err := resolveDownload(t.Context(), s, downloadConfig{URLs: []string{url}})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
