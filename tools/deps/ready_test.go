package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/filetest"
)

const releasedWheel = "redsi-0.1.0-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.musllinux_1_1_x86_64.whl"

// The server of a release is taken if it is of the same sources and has the pinned sum. Else it is compiled, and a line
// says why.
func TestReleasedServer(t *testing.T) {
	const inside = "redsi-0.1.0.data/scripts/redsi-temporal-server"
	good := map[string][]byte{releasedWheel: makeWheel(t, inside, "redsi-0.1.0.data/scripts/redsi", "redsi/__init__.py")}
	tests := []struct {
		name   string
		served []byte
		more   string // in the versions file
		dir    string
		server string // what the part holds
		shown  string
	}{
		{"taken", good[releasedWheel], "RELEASED_SERVER = 7\n", "1.29.1-7-linux-amd64", inside, "taken from " + releasedWheel},
		{"none released", good[releasedWheel], "", "1.29.1-7-linux-amd64", "compiled", ""},
		{"other sources", good[releasedWheel], "RELEASED_SERVER = 8\n", "1.29.1-7-linux-amd64", "compiled", "not to be had: 1.29.1-8-linux-amd64 was made of other sources"},
		{"not on the index", nil, "RELEASED_SERVER = 7\n", "1.29.1-7-linux-amd64", "compiled", "not to be had: "},
		{"other bytes", []byte("other"), "RELEASED_SERVER = 7\n", "1.29.1-7-linux-amd64", "compiled", "is not the pinned file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			served := map[string][]byte{releasedWheel: tt.served}
			x := newIndexOf(t, map[string][]string{"RELEASED_linux-amd64": {releasedWheel}}, served, good)
			text := goldens.Text(t, x.versions)
			filetest.Write(t, x.versions, append(text, "TEMPORAL_SERVER_VERSION = 1.29.1\n"+tt.more...))
			compile := func(_ context.Context, p partPlace, _ *progress) error {
				return os.WriteFile(filepath.Join(p.new, "temporal-server"), []byte("compiled"), 0o755)
			}
			var out strings.Builder
			dir := filepath.Join(t.TempDir(), "temporal-server", tt.dir)
			o := options{versions: x.versions, platform: "linux-amd64"}
			if err := install(t.Context(), "temporal-server", dir, newBoard(&out).part("temporal-server"), o.ready(compile)); err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(dir, "temporal-server")
			got, err := os.ReadFile(program)
			if err != nil || string(got) != tt.server || !strings.Contains(out.String(), tt.shown) {
				t.Errorf("the part holds %q (%v), want %q; shown, want %q:\n%s", got, err, tt.server, tt.shown, &out)
			}
			if st, err := os.Stat(program); err != nil || st.Mode()&0o111 == 0 {
				t.Errorf("%s cannot be run (%v)", program, err)
			}
			if asked := len(x.asked()) > 0; asked != (tt.dir == "1.29.1-7-linux-amd64" && strings.HasSuffix(tt.more, "7\n")) {
				t.Errorf("the index was asked: %v", x.asked())
			}
		})
	}
}

// A stop is not a reason to compile.
func TestReleasedServerInterrupted(t *testing.T) {
	wheels := map[string][]byte{releasedWheel: makeWheel(t, "x")}
	x := newIndexOf(t, map[string][]string{"RELEASED_linux-amd64": {releasedWheel}}, wheels, wheels)
	text, err := os.ReadFile(x.versions)
	if err == nil {
		err = os.WriteFile(x.versions, append(text, "TEMPORAL_SERVER_VERSION = 1\nRELEASED_SERVER = 7\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	compile := func(context.Context, partPlace, *progress) error { return errors.New("it was compiled") }
	p := partPlace{dir: "/deps/temporal-server/1-7-linux-amd64", new: t.TempDir(), downloads: t.TempDir()}
	o := options{versions: x.versions, platform: "linux-amd64"}
	if err := o.ready(compile)(ctx, p, newBoard(&strings.Builder{}).part("temporal-server")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A folder of wheels is an index too, to pip itself.
func TestFolderOfWheels(t *testing.T) {
	if err := exec.Command("python3", "-m", "pip", "--version").Run(); err != nil {
		t.Skip("there is no pip here")
	}
	const name = "tiny-1.0-py3-none-any.whl"
	dir := t.TempDir()
	data := zipOf(t, map[string][]byte{
		"tiny.py":                     nil,
		"tiny-1.0.dist-info/METADATA": []byte("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"),
		"tiny-1.0.dist-info/WHEEL":    []byte("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
		"tiny-1.0.dist-info/RECORD":   []byte("tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n"),
	})
	filetest.Write(t, filepath.Join(dir, name), data)
	t.Setenv("PIP_FIND_LINKS", dir)
	t.Setenv("PIP_NO_INDEX", "1")
	w, err := parseWheel(fmt.Sprintf("%x:%s", sha256.Sum256(data), name))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if _, err := w.fetch(t.Context(), partPlace{downloads: t.TempDir()}, newBoard(&out).part("tiny")); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}
