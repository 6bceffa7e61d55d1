//go:build linux

package driver

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/system/testkit"
)

// built is a library of that C code: few machines have NVIDIA's.
func built(t *testing.T, code string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	testkit.None(t, err, "a build with cgo needs a C compiler")
	source, library := filepath.Join(t.TempDir(), "fake.c"), filepath.Join(t.TempDir(), "libfake.so")
	testkit.Write(t, source, code)
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

// TestNVML: a library with the functions of NVIDIA's is asked for all that they tell.
func TestNVML(t *testing.T) {
	m := lookIn(built(t, `
#include <stdio.h>
#include <string.h>
static int ready;
int nvmlInit_v2(void) { ready = 1; return 0; }
int nvmlSystemGetDriverVersion(char *v, unsigned n) { strncpy(v, "580.95.05", n); return !ready; }
int nvmlSystemGetCudaDriverVersion_v2(int *v) { *v = 13020; return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 2; return !ready; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(size_t)(i + 1); return 0; }
int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj) { *mj = 1500 * (size_t)d; return 0; }
int nvmlDeviceGetName(void *d, char *name, unsigned n) { strncpy(name, "A card", n); return 0; }
int nvmlDeviceGetUUID(void *d, char *id, unsigned n) { snprintf(id, n, "GPU-%zu", (size_t)d); return 0; }
int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) { m[0] = 100; m[1] = 10 * (size_t)d; m[2] = 1; return 0; }
int nvmlDeviceGetCudaComputeCapability(void *d, int *major, int *minor) { *major = 9; *minor = (size_t)d; return 0; }
`))
	if j, ok := m.Joules(); !ok || j != 4.5 {
		t.Errorf("%v J, %v", j, ok)
	}
	for i := range m.Cards {
		m.Cards[i].Joules = nil
	}
	want := nvidia.Machine{Driver: "580.95.05", CUDA: nvidia.Version{Major: 13, Minor: 2}, Cards: []nvidia.Card{
		{Name: "A card", UUID: "GPU-1", Memory: 100, Free: 10, Capability: nvidia.Version{Major: 9, Minor: 1}},
		{Name: "A card", UUID: "GPU-2", Memory: 100, Free: 20, Capability: nvidia.Version{Major: 9, Minor: 2}}}}
	testkit.Deep(t, m, want)
}

// TestNoNVML: each way in which there is no card says why.
func TestNoNVML(t *testing.T) {
	const count = "int nvmlDeviceGetCount_v2(unsigned *n) { *n = 0; return 0; } int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { return 2; }\n"
	for _, c := range []struct{ library, why string }{
		{filepath.Join(t.TempDir(), "absent.so"), "no NVIDIA driver: there is no /"},
		{built(t, "int nvmlInit_v2(void) { return 0; }"), "lacks functions"},
		{built(t, count+`int nvmlInit_v2(void) { return 18; } const char *nvmlErrorString(int n) { return n == 18 ? "Driver/library version mismatch" : 0; }`), "cannot be used: Driver/library version mismatch"},
		{built(t, count+"int nvmlInit_v2(void) { return 9; }"), "cannot be used: error 9"},
		{built(t, count+"int nvmlInit_v2(void) { return 0; }"), "has no card"},
	} {
		m := lookIn(c.library)
		if j, ok := m.Joules(); !strings.Contains(m.Why, c.why) || len(m.Cards) > 0 || ok || j != 0 {
			t.Errorf("%+v, want %q", m, c.why)
		}
	}
}
