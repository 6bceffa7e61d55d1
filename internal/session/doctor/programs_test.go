package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSpeed: instructions that libtorch lacks, or was asked for in vain, are said.
func TestSpeed(t *testing.T) {
	for instructions, want := range map[string]string{"AVX2": "ok ", "AVX512": "warn ; this processor does not say that it has AVX-512, so steps may crash", "DEFAULT": "ok ; without AVX2 models compute slower, on the CPU: redsi doctor --rates measures how fast"} {
		f := Finding{OK: true, Soft: true}
		if speed(&f, instructions, false); f.level()+" "+f.Note != want {
			t.Errorf("%s: %+v", instructions, f)
		}
	}
	f := Finding{OK: true}
	if speed(&f, "AVX512", true); f.Note != "" {
		t.Errorf("%+v", f)
	}
}

// TestPrograms: each program on PATH is listed once, with its version; one of another version than
// the one in use is a warning.
func TestPrograms(t *testing.T) {
	root := t.TempDir()
	at := func(folder string, mode os.FileMode) string {
		file := filepath.Join(root, folder, "redsi")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	used, other := at("venv", 0o755), at("usr", 0o755)
	at("same", 0o755)
	at("text", 0o644)
	if err := os.Symlink(other, filepath.Join(root, "redsi")); err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, f := range []string{"absent", "text", "usr", "venv", "same", "."} {
		folders = append(folders, filepath.Join(root, f))
	}
	path := strings.Join(folders, string(filepath.ListSeparator))
	version := func(_ context.Context, file string) string {
		if file == other {
			return "v1"
		}
		return "v2"
	}
	var got []string
	for _, f := range programs(t.Context(), "redsi", used, "v2", path, version) {
		got = append(got, f.level()+" "+strings.ReplaceAll(f.Note, root, ""))
	}
	want := "ok redsi v2, /venv/redsi, which is used\nwarn redsi v1, /usr/redsi, another version\nok redsi v2, /same/redsi"
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("%s", s)
	}
	if found := programs(t.Context(), "redsi", filepath.Join(root, "gone"), "", path, version); len(found) != 3 || !found[0].OK {
		t.Errorf("without one in use: %+v", found)
	}
}
