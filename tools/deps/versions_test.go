package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestReadVersions(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string]string
		err        string
	}{
		{"comments, blanks, continuation", "# c\n\nA = 1\nB=\\\n  x:y \\\n  z\n", map[string]string{"A": "1", "B": "x:y z"}, ""},
		{"empty value", "A =\n", map[string]string{"A": ""}, ""},
		{"not an assignment", "A\n", nil, "is not NAME = VALUE"},
		{"a make operator", "A := 1\n", nil, "is not NAME = VALUE"},
		{"twice", "A = 1\nA = 2\n", nil, "A is set twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "versions.mk")
			testkit.Write(t, path, tt.text)
			got, err := readVersions(path)
			wantError(t, err, tt.err)
			testkit.Deep(t, got, tt.want)
		})
	}
}

func TestParseWheel(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	got := testkit.Value(parseWheel(sum + ":nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"))(t)
	if got.distribution != "nvidia-cuda-runtime" || got.version != "13.0.96" || got.sha256 != sum {
		t.Errorf("got %+v", got)
	}
	want := []string{"--no-deps", "--only-binary=:all:", "--python-version", "3.11",
		"--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_17_x86_64"}
	testkit.Deep(t, got.pipOptions(), want, "options")

	for _, bad := range []string{
		"", "torch-2.11.0-cp311-cp311-linux.whl", "zz:torch-2.11.0-cp311-cp311-linux.whl", sum[:62] + ":torch-1-a-b-c.whl",
		sum + ":torch.whl", sum + ":torch-2.11.0-cp311-cp311-linux.zip", sum + ":../torch-2.11.0-cp311-cp311-linux.whl",
	} {
		if w, err := parseWheel(bad); err == nil {
			t.Errorf("parseWheel(%q) = %+v, want an error", bad, w)
		}
	}
}

// The pinned versions are written in versions.mk and, for what is a Go module, in a go.mod.
func TestPinnedVersions(t *testing.T) {
	values := testkit.Value(readVersions("../versions.mk"))(t)
	for _, platform := range []string{"linux-amd64", "linux-arm64", "darwin-arm64"} {
		wheels, err := wheelsFor(values, "WHEELS_"+platform)
		if err != nil {
			t.Error(err)
			continue
		}
		if platform != "darwin-arm64" { // what make wheel builds besides, and the launcher starts
			later := values["LIBTORCH_LATER"]
			if wheels, err := (options{versions: "../versions.mk", torch: later, platform: platform}).wheels("WHEELS_"); err != nil || wheels[0].version != later {
				t.Errorf("%s: of torch %s there are %v, %v", platform, later, wheels, err)
			}
			if launcher := goldens.Text(t, "../../python/redsi_models/__init__.py"); !strings.Contains(string(launcher), `"redsi-models-`+later+`"`) {
				t.Errorf("the launcher does not start redsi-models-%s", later)
			}
		}
		if first := wheels[0]; first.distribution != "torch" || first.version != values["LIBTORCH_VERSION"] {
			t.Errorf("%s: the first wheel is %s, LIBTORCH_VERSION %s", platform, first.file, values["LIBTORCH_VERSION"])
		}
	}
	testkit.ErrSays(t, testkit.Err(wheelsFor(values, "WHEELS_plan9-mips")), "WHEELS_plan9-mips")
	for _, pin := range []struct{ mod, module, name string }{
		{"../../go.mod", "github.com/sugarme/gotch", "GOTCH_VERSION"},
		{"../../go.mod", tokenizersModule, "TOKENIZERS_VERSION"},
		{"../temporal-server/go.mod", "go.temporal.io/server", "TEMPORAL_SERVER_VERSION"},
		{"../minio/go.mod", "github.com/minio/minio", "MINIO_VERSION"},
		{"../versitygw/go.mod", "github.com/versity/versitygw", "VERSITYGW_VERSION"},
	} {
		text := goldens.Text(t, pin.mod)
		line := regexp.MustCompile(`(?m)^(?:require )?\s*` + regexp.QuoteMeta(pin.module) + ` v(\S+)`).FindStringSubmatch(string(text))
		if line == nil || line[1] != values[pin.name] {
			t.Errorf("%s has %s %q, versions.mk %s = %s", pin.mod, pin.module, line, pin.name, values[pin.name])
		}
	}
}

// What redsi and its server are both made of has one version, so that it is compiled once: Temporal's API and SDK too, with
// all that these import.
func TestSharedVersions(t *testing.T) {
	versions := func(mod string) map[string]string {
		all := map[string]string{}
		for _, line := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) (v\S+)`).FindAllStringSubmatch(string(goldens.Text(t, mod)), -1) {
			all[line[1]] = line[2]
		}
		return all
	}
	server := versions("../temporal-server/go.mod")
	shared := 0
	for module, want := range versions("../../go.mod") {
		got, ok := server[module]
		if !ok {
			continue
		}
		shared++
		if got != want {
			t.Errorf("tools/temporal-server/go.mod has %s %s, go.mod %s: run go get %s@VERSION where it is older", module, got, want, module)
		}
	}
	if shared < 40 {
		t.Errorf("they share %d modules", shared)
	}
}

// wantError ends a test whose error lacks a text, or that has one where the text is "".
func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
		t.Fatalf("error %v, want %q", err, text)
	}
}
