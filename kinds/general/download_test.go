package general

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// TestLocalSources: what is not a file is refused with the way to name files.
func TestLocalSources(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s*{1}?[2]")
	for _, name := range []string{"b 1.txt", "b*{%2A}.txt"} {
		filetest.Write(t, filepath.Join(dir, name), name)
	}
	s, err := lockfile.Open(filepath.Join(dir, lockfile.Name), dir, "")
	errtest.None(t, err)
	for url, want := range map[string]string{
		".":         "is not a regular file; a folder is written with a slash at its end",
		"*.fastq":   "no file in " + dir + " fits *.fastq",
		"a.fastq":   "no such file or directory",
		"nothing/x": "no such file or directory",
	} {
		_, err := resolveDownload(t.Context(), s, downloadConfig{URLs: []string{url}})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
	// Of what is one, the letters of patterns in its path are themselves, also once it is absolute.
	for url, want := range map[string]string{"b 1.txt": "b 1.txt", "b*{%2A}.txt": "b*{%2A}.txt", "*.txt": "b 1.txt, b*{%2A}.txt", "./": "b 1.txt, b*{%2A}.txt"} {
		c, err := resolveDownload(t.Context(), s, downloadConfig{URLs: []string{url}})
		if err = errors.Join(err, checkDownload(c)); err != nil || strings.Join(c.Names, ", ") != want {
			t.Errorf("%s: %q, %v", url, c.Names, err)
		}
		for i, u := range c.URLs {
			if src, err := fetch.ParseSource(u); err != nil || src.Path != filepath.Join(dir, c.Names[i]) {
				t.Errorf("%s: %s is %s, %v", url, u, src.Path, err)
			}
		}
	}
}
