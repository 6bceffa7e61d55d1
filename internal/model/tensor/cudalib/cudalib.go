package cudalib

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// State is what became of the CUDA half.
type State struct {
	Loaded   bool     `json:"loaded"`             // libtorch has its CUDA half, and there is a card
	Reason   string   `json:"reason,omitempty"`   // why it has not, and what to do about it
	Folder   string   `json:"folder,omitempty"`   // has the libraries, or would
	Versions []string `json:"versions,omitempty"` // what Folder says of itself, "torch 2.11.0" first
	// Driver and Runtime are versions of CUDA, such as "13.0": the newest that the driver can do, and the
	// libraries'. They are "" without a driver or libraries.
	Driver  string `json:"driver,omitempty"`
	Runtime string `json:"runtime,omitempty"`
	Cards   int    `json:"cards"` // how many this process may use
	// Graphs is the library by which steps are recorded and replayed (package cudagraph); GraphsReason is why there is
	// none, so that a card is asked for one operation at a time. Both are "" without cards.
	Graphs       string `json:"graphs,omitempty"`
	GraphsReason string `json:"graphs_reason,omitempty"`
}

// not is the state for a reason that the half is not loaded.
func (s State) not(format string, args ...any) State {
	s.Loaded, s.Cards, s.Reason = false, 0, fmt.Sprintf(format, args...)
	return s
}

// half is the library that registers kernels when it is loaded, in its folder.
const half = "torch/lib/libtorch_cuda.so"

// driverLibrary is what the driver of NVIDIA's cards installs.
const driverLibrary = "libcuda.so.1"

// machine has the libraries of CUDA that Load asks; tests have others.
type machine struct {
	driver  string
	runtime string // which libtorch's CPU half has loaded; "": by its usual names
}

// onCards is the libtorch whose CUDA half is loaded: that for which the library of graphs is compiled, and memory counted.
const onCards = "2.11"

// Load loads the CUDA half for libtorch of this version, once for a process, before libtorch is asked
// for a device: what it then finds it keeps.
func Load(version string) State {
	return machine{driver: driverLibrary}.load(version)
}

func (m machine) load(version string) State {
	s := m.take(version)
	if s.Loaded {
		s.Graphs, s.GraphsReason = graphs(version, s.Folder, loaded("libtorch_cpu.so"))
	}
	return s
}

// take loads the half.
func (m machine) take(version string) State {
	var s State
	asked := os.Getenv("REDSI_CUDA")
	if asked == "off" {
		return s.not("REDSI_CUDA=off")
	}
	if path := loaded("libtorch_cuda.so"); path != "" { // LD_PRELOAD had it
		s.Folder = filepath.Dir(filepath.Dir(filepath.Dir(path)))
		s.Versions, _ = versionsOf(s.Folder)
		return m.count(s)
	}
	if list, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set && (strings.TrimSpace(list) == "" || strings.HasPrefix(strings.TrimSpace(list), "-1")) {
		return s.not("CUDA_VISIBLE_DEVICES=%q hides all cards", list)
	}
	named := asked
	if within, ok := strings.CutSuffix(filepath.Clean(asked), "/"+filepath.Dir(half)); ok {
		asked = within // torch/lib itself was named
	}
	s.Folder = asked
	if asked != "" && !has(asked) {
		return s.not("REDSI_CUDA=%s has no %s: name a folder that has it, or off", named, half)
	}
	can, status, err := number(m.driver, "cuDriverGetVersion")
	if err != nil {
		return s.not("no NVIDIA driver found (%s)", m.driver)
	}
	if status != 0 {
		return s.not("the driver of the NVIDIA card does not report its version (error %d); run nvidia-smi", status)
	}
	s.Driver = cudaVersion(can)
	if asked == "" {
		if s.Folder = folder(loaded("libtorch_cpu.so")); s.Folder == "" {
			return s.not("this program runs without libtorch")
		}
	}
	if !has(s.Folder) {
		return s.not("there is a driver (CUDA %s), but no libraries in %s: %s", s.Driver, s.Folder, get(s.Folder, version))
	}
	if s.Versions, err = versionsOf(s.Folder); err != nil {
		return s.not("%v", err)
	}
	if got := strings.TrimPrefix(s.Versions[0], "torch "); got != version {
		return s.not("%s is for torch %s, and this program for torch %s: make cuda, or another REDSI_CUDA", s.Folder, got, version)
	}
	if !strings.HasPrefix(version, onCards+".") {
		return s.not("on a card only torch %s was tried, and this is torch %s: pip install 'torch==%s.*', or device = \"cpu\"", onCards, version, onCards)
	}
	if s = m.count(s); !s.Loaded {
		return s
	}
	if err := open(filepath.Join(s.Folder, half)); err != nil {
		return s.not("the CUDA libraries do not load: %v", err)
	}
	return s
}

// count asks CUDA's runtime for cards.
func (m machine) count(s State) State {
	for n := 20; n > 10 && m.runtime == ""; n-- {
		if name := fmt.Sprintf("libcudart.so.%d", n); loaded(name) != "" {
			m.runtime = name
		}
	}
	if m.runtime == "" || loaded(m.runtime) == "" {
		return s.not("this process's libtorch has no CUDA runtime (libcudart)")
	}
	have, _, err := number(m.runtime, "cudaRuntimeGetVersion")
	if err != nil {
		return s.not("%v", err)
	}
	s.Runtime = cudaVersion(have)
	if can, _, err := number(m.driver, "cuDriverGetVersion"); err == nil && can/1000 < have/1000 {
		s.Reason = fmt.Sprintf("the driver is for CUDA %s, and the libraries need one for CUDA %s: install a newer driver", cudaVersion(can), s.Runtime)
		if have/1000 == 13 {
			s.Reason += ", 580 or later"
		}
		return s
	}
	n, status, err := number(m.runtime, "cudaGetDeviceCount")
	switch {
	case err != nil:
		s.Reason = err.Error()
	case status != 0:
		s.Reason = fmt.Sprintf("CUDA finds no card: %s (error %d)", text(m.runtime, "cudaGetErrorString", status), status)
	case n == 0:
		s.Reason = "CUDA finds no card"
	default:
		s.Loaded, s.Cards, s.Reason = true, n, ""
	}
	return s
}

// folder is where the libraries are, or would be put, of a process whose libtorch_cpu.so is library; "" without one.
func folder(library string) string {
	if library == "" {
		return ""
	}
	part := filepath.Dir(filepath.Dir(library)) // DEPS/libtorch/VERSION-PLATFORM, an archive's folder, or Python's torch
	own, python := filepath.Join(part, "cuda"), filepath.Dir(part)
	beside := filepath.Join(filepath.Dir(filepath.Dir(part)), "cuda", filepath.Base(part))
	for _, folder := range []string{own, beside, python} {
		if has(folder) {
			return folder
		}
	}
	switch {
	case filepath.Base(filepath.Dir(part)) == "libtorch":
		return beside
	case exists(part, "version.py"):
		return python
	}
	return own
}

// get is the command that puts the libraries into a folder.
func get(folder, version string) string {
	if exists(folder, "torch/version.py") {
		return "that torch is for processors; pip install --force-reinstall torch==" + version + " there takes the one for cards"
	}
	return "make cuda"
}

func has(folder string) bool { return folder != "" && exists(folder, half) }

func exists(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

var pythonVersion = regexp.MustCompile(`(?m)^__version__ = '([0-9.]+)(\+cu[0-9]+)?'`)

// versionsOf reads what a folder holds: what make cuda wrote, or Python's torch.
func versionsOf(folder string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "versions"))
	if err == nil {
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if strings.HasPrefix(lines[0], "torch ") {
			return lines, nil
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(folder, "torch", "version.py"))
		if v := pythonVersion.FindSubmatch(text); v != nil {
			return []string{"torch " + string(v[1])}, nil
		}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return nil, fmt.Errorf("%s does not say which torch it is for: neither its file versions nor torch/version.py does; make cuda, or another REDSI_CUDA", folder)
}

// cudaVersion is 13000 as people write it.
func cudaVersion(n int) string { return fmt.Sprintf("%d.%d", n/1000, n%1000/10) }
