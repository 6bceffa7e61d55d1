//go:build linux && cgo

package cudalib

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor/cudagraph"
	"github.com/redsi/redsi/internal/system/testkit"
)

// compile makes a shared library of C.
func compile(t *testing.T, path, source string, flags ...string) string {
	t.Helper()
	testkit.None(t, os.MkdirAll(filepath.Dir(path), 0o755))
	cmd := exec.Command("cc", append([]string{"-shared", "-fPIC", "-o", path, "-x", "c", "-", "-x", "none"}, flags...)...)
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// driver is a library like libcuda.so.1 of a version.
func driver(t *testing.T, version, status int) string {
	return compile(t, filepath.Join(t.TempDir(), "libcuda.so"), fmt.Sprintf("int cuDriverGetVersion(int *v) { *v = %d; return %d; }", version, status))
}

// runtime is a library like libcudart.so.13 that this process has loaded.
func runtime(t *testing.T, cards, status int) string {
	path := compile(t, filepath.Join(t.TempDir(), "libcudart.so"), fmt.Sprintf(`
int cudaRuntimeGetVersion(int *v) { *v = 13000; return 0; }
int cudaGetDeviceCount(int *n) { *n = %d; return %d; }
const char *cudaGetErrorString(int e) { return e == 100 ? "no CUDA-capable device is detected" : "another error"; }`, cards, status))
	testkit.None(t, open(path))
	return path
}

// environment has no other variables that Load asks for until the test ends.
func environment(t *testing.T, has map[string]string) {
	for _, name := range []string{"REDSI_CUDA", "REDSI_CUDA_GRAPHS", "CUDA_VISIBLE_DEVICES"} {
		t.Setenv(name, has[name])
		if _, set := has[name]; !set {
			os.Unsetenv(name)
		}
	}
}

// TestLoad: each way in which the CUDA half is not loaded has a reason that says what to do.
func TestLoad(t *testing.T) {
	// A process's libtorch in a folder as make has it, and the parts for it.
	deps := t.TempDir()
	part := filepath.Join(deps, "cuda", "2.11.0-linux-amd64")
	graphs := filepath.Join(deps, "cuda-graphs", cudagraph.Name("2.11.0"))
	cpu := compile(t, filepath.Join(deps, "libtorch", "2.11.0-linux-amd64", "lib", "libtorch_cpu.so"), "", "-Wl,-soname,libtorch_cpu.so")
	testkit.Is(t, folder(loaded("libtorch_cpu.so")), "", "without libtorch the folder")
	testkit.None(t, open(cpu))
	fresh := func(versions, file string) string { // a folder with libraries of a version
		dir := t.TempDir()
		if file != "" {
			testkit.Write(t, filepath.Join(dir, file), versions)
		}
		compile(t, filepath.Join(dir, half), "")
		return dir
	}
	good := fresh("torch 2.11.0\nnvidia-cublas 13.1.0.3\n", "versions")
	broken := t.TempDir()
	testkit.Write(t, filepath.Join(broken, half), "no library")
	testkit.Write(t, filepath.Join(broken, "versions"), "torch 2.11.0\n")
	lacking := fresh("torch 2.11.0\n", "versions")
	gone := compile(t, filepath.Join(t.TempDir(), "libgone.so.1"), "int gone(void) { return 1; }", "-Wl,-soname,libgone.so.1")
	compile(t, filepath.Join(lacking, half), "int gone(void); int here(void) { return gone(); }", gone)
	testkit.None(t, os.Remove(gone))

	new13, old12, odd := driver(t, 13000, 0), driver(t, 12040, 0), driver(t, 0, 999)
	absent := filepath.Join(t.TempDir(), "libcuda.so.1")
	one, none := runtime(t, 1, 0), runtime(t, 0, 100)
	empty := t.TempDir()

	tests := []struct {
		name            string
		env             map[string]string
		driver, runtime string
		want            string // in the reason; "": loaded
		folder          string
	}{
		{"off", map[string]string{"REDSI_CUDA": "off"}, new13, one, "REDSI_CUDA=off", ""},
		{"all hidden", map[string]string{"CUDA_VISIBLE_DEVICES": "", "REDSI_CUDA": good}, new13, one, `CUDA_VISIBLE_DEVICES="" hides all cards`, ""},
		{"all hidden by -1", map[string]string{"CUDA_VISIBLE_DEVICES": "-1", "REDSI_CUDA": good}, new13, one, "hides all cards", ""},
		{"a wrong folder, whatever else there is", map[string]string{"REDSI_CUDA": empty}, absent, one, "REDSI_CUDA=" + empty + " has no torch/lib/libtorch_cuda.so: name a folder that has it, or off", empty},
		{"no driver", nil, absent, one, "no NVIDIA driver found (" + absent + ")", ""},
		{"no driver, with libraries", map[string]string{"REDSI_CUDA": good}, absent, one, "no NVIDIA driver found", good},
		{"a driver without a version", map[string]string{"REDSI_CUDA": good}, odd, one, "does not report its version (error 999)", good},
		{"no libraries", nil, new13, one, "there is a driver (CUDA 13.0), but no libraries in " + part + ": make cuda", part},
		{"an old driver", map[string]string{"REDSI_CUDA": good}, old12, one, "the driver is for CUDA 12.4, and the libraries need one for CUDA 13.0: install a newer driver, 580 or later", good},
		{"of another torch", map[string]string{"REDSI_CUDA": fresh("torch 2.10.0\n", "versions")}, new13, one, " is for torch 2.10.0, and this program for torch 2.11.0: make cuda", "*"},
		{"of Python's other torch", map[string]string{"REDSI_CUDA": fresh("__version__ = '2.12.1+cu132'\n", "torch/version.py")}, new13, one, " is for torch 2.12.1, and", "*"},
		{"of nobody knows what", map[string]string{"REDSI_CUDA": fresh("", "")}, new13, one, "does not say which torch it is for", "*"},
		{"a versions file of something else", map[string]string{"REDSI_CUDA": fresh("numpy 1\n", "versions")}, new13, one, "does not say which torch it is for", "*"},
		{"no card", map[string]string{"REDSI_CUDA": good}, new13, none, "CUDA finds no card: no CUDA-capable device is detected (error 100)", good},
		{"no runtime", map[string]string{"REDSI_CUDA": good}, new13, filepath.Join(empty, "libcudart.so"), "libtorch has no CUDA runtime (libcudart)", good},
		{"not a library", map[string]string{"REDSI_CUDA": broken}, new13, one, "the CUDA libraries do not load: " + filepath.Join(broken, half), broken},
		{"a library that it needs is gone", map[string]string{"REDSI_CUDA": lacking}, new13, one, "do not load: libgone.so.1: cannot open", lacking},
		{"all there", map[string]string{"REDSI_CUDA": good, "CUDA_VISIBLE_DEVICES": "0"}, new13, one, "", good},
		{"torch/lib is named", map[string]string{"REDSI_CUDA": filepath.Join(good, "torch", "lib") + "/"}, new13, one, "", good},
		{"an empty torch/lib is named", map[string]string{"REDSI_CUDA": filepath.Join(empty, "torch", "lib")}, new13, one, "REDSI_CUDA=" + filepath.Join(empty, "torch", "lib") + " has no torch/lib/", empty},
		{"all there, of Python", map[string]string{"REDSI_CUDA": fresh("__version__ = '2.11.0+cu130'\n", "torch/version.py")}, new13, one, "", "*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			environment(t, tt.env)
			s := machine{tt.driver, tt.runtime}.load("2.11.0")
			if tt.folder != "*" && s.Folder != tt.folder {
				t.Errorf("folder %q, want %q", s.Folder, tt.folder)
			}
			if tt.want == "" {
				testkit.Is(t, s.Graphs, "")
				testkit.Says(t, s.GraphsReason, "there is no libredsi_graphs.so in "+graphs+": make cuda")
				if !s.Loaded || s.Reason != "" || s.Cards != 1 || s.Driver != "13.0" || s.Runtime != "13.0" || s.Versions[0] != "torch 2.11.0" {
					t.Errorf("%+v", s)
				}
				return
			}
			if s.Loaded || s.Cards != 0 || s.Graphs+s.GraphsReason != "" || !strings.Contains(s.Reason, tt.want) {
				t.Errorf("%+v\nwant the reason %q", s, tt.want)
			}
		})
	}

	// Of a later libtorch, which was not tried on a card.
	later := fresh("__version__ = '2.15.0+cu132'\n", "torch/version.py")
	environment(t, map[string]string{"REDSI_CUDA": later})
	if s := (machine{new13, one}).load("2.15.0"); s.Loaded ||
		!strings.Contains(s.Reason, "only torch 2.11 was tried, and this is torch 2.15.0: pip install 'torch==2.11.*'") {
		t.Errorf("%+v", s)
	}

	// Where the libraries lie of which a process has libtorch: beside libtorch's part, and in an archive.
	testkit.Write(t, filepath.Join(part, half), "")
	testkit.Is(t, folder(cpu), part, "folder")
	archive := filepath.Join(deps, "libtorch", "2.11.0-linux-amd64", "cuda")
	testkit.Write(t, filepath.Join(archive, half), "")
	testkit.Is(t, folder(cpu), archive, "folder")
	python := filepath.Join(good, half) // has it beside libtorch_cpu.so
	testkit.Is(t, folder(filepath.Join(filepath.Dir(python), "libtorch_cpu.so")), good, "folder")

	// One that was preloaded is taken as it is.
	preloaded := t.TempDir()
	testkit.None(t, open(compile(t, filepath.Join(preloaded, half), "", "-Wl,-soname,libtorch_cuda.so")))
	environment(t, nil)
	m := machine{new13, one}
	want := State{Loaded: true, Folder: preloaded, Runtime: "13.0", Cards: 1, Graphs: filepath.Join(graphs, cudagraph.File)}
	testkit.Write(t, want.Graphs, "")
	testkit.Deep(t, m.load("2.11.0"), want)
	m.runtime = ""
	if s := m.load("2.11.0"); s.Loaded || !strings.Contains(s.Reason, "no CUDA runtime") {
		t.Errorf("%+v", s)
	}
	testkit.None(t, open(compile(t, filepath.Join(t.TempDir(), "libcudart.so"), "int cudaRuntimeGetVersion(int *v) { *v = 14010; return 0; }\nint cudaGetDeviceCount(int *n) { *n = 3; return 0; }",
		"-Wl,-soname,libcudart.so.14")))
	m.driver = driver(t, 14000, 0)
	if s := m.load("2.11.0"); !s.Loaded || s.Runtime != "14.1" || s.Cards != 3 {
		t.Errorf("by its name: %+v", s)
	}
	m.runtime = none
	if s := m.load("2.11.0"); s.Loaded || !strings.Contains(s.Reason, "finds no card") {
		t.Errorf("%+v", s)
	}
}

// BenchmarkLoad: on a machine without a driver.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		Load("2.11.0")
	}
}

// TestFolder: the folder that is named where there are no libraries is the one where they would be found.
func TestFolder(t *testing.T) {
	site := t.TempDir() // of a Python whose torch is for processors
	testkit.Write(t, filepath.Join(site, "torch", "version.py"), "__version__ = '2.11.0+cpu'\n")
	testkit.Says(t, get(site, "2.11.0"), "pip install --force-reinstall torch==2.11.0")
	for library, want := range map[string]string{
		"/deps/libtorch/2.11.0-linux-arm64/lib/libtorch_cpu.so": "/deps/cuda/2.11.0-linux-arm64",
		"/opt/redsi-1.0-linux-amd64/lib/libtorch_cpu.so":        "/opt/redsi-1.0-linux-amd64/cuda",
		filepath.Join(site, "torch", "lib", "libtorch_cpu.so"):  site,
	} {
		testkit.Is(t, folder(library), want, library)
	}
}

// TestGraphs: the library of graphs is found where it is named, in the folder of the CUDA half, where `make cuda` puts it, or
// beside an archive's libtorch, in this order; else the reason names the place where it would be found.
func TestGraphs(t *testing.T) {
	dir := t.TempDir()
	at := func(elements ...string) string { return filepath.Join(append([]string{dir}, elements...)...) }
	part, archive := at("deps", "libtorch", "2.11.0-linux-amd64", "lib", "libtorch_cpu.so"), at("redsi-1.0", "lib", "libtorch_cpu.so")
	made, half, named := at("deps", "cuda-graphs", cudagraph.Name("2.11.0")), at("half"), at("named")
	for _, tt := range []struct {
		name, library, asked string
		there                []string // folders that have it
		want, reason         string
	}{
		{"none", part, "", nil, "", "there is no libredsi_graphs.so in " + made + ": make cuda, or name another folder with REDSI_CUDA_GRAPHS"},
		{"none in an archive", archive, "", nil, "", " in " + at("redsi-1.0", "lib") + ": make cuda"},
		{"none anywhere", "", "", nil, "", " in " + half + ": make cuda"},
		{"off", part, "off", []string{made, half}, "", "REDSI_CUDA_GRAPHS=off"},
		{"of make cuda", part, "", []string{made}, made, ""},
		{"of make cuda, for another program", part, "", []string{at("deps", "cuda-graphs", "2.11.0-000000000000-linux-amd64")}, "", "there is no"},
		{"of make cuda, while another folder is named", part, named, []string{made}, made, ""},
		{"of an archive", archive, "", []string{at("redsi-1.0", "lib")}, at("redsi-1.0", "lib"), ""},
		{"beside the half", part, "", []string{made, half}, half, ""},
		{"named", part, named, []string{made, half, named}, named, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, folder := range tt.there {
				testkit.Write(t, filepath.Join(folder, cudagraph.File), "")
				defer os.Remove(filepath.Join(folder, cudagraph.File))
			}
			t.Setenv("REDSI_CUDA_GRAPHS", tt.asked)
			path, reason := graphs("2.11.0", half, tt.library)
			if want := tt.want; want != "" && path != filepath.Join(want, cudagraph.File) || want == "" && path != "" {
				t.Errorf("found %q, want it in %q", path, want)
			}
			testkit.Is(t, (reason == ""), tt.reason == "", "reason")
			testkit.Says(t, reason, tt.reason)
		})
	}
}
