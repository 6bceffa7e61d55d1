//go:build linux

package driver

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/system/testkit"
)

// driver is one whose cuInit and cuDeviceGetCount a test writes.
const driver = `
#include <string.h>
#include <stddef.h>
int cuGetErrorString(int n, const char **text) { *text = n == 100 ? "no CUDA-capable device is detected" : "unknown error"; return 0; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuDeviceGet(int *d, int i) { *d = i + 7; return 0; }
int cuDeviceGetName(char *name, int n, int d) { strncpy(name, d == 7 ? "first" : "second", n); return d < 7; }
int cuDeviceGetUuid_v2(unsigned char *u, int d) { for (int i = 0; i < 16; i++) u[i] = 16 * (d - 6) + i; return 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { *n = 1000 * d; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 8 : a == 76 ? 6 : -1; return 0; }
`

// TestDriver: the cards of this process come in the driver's order, with their UUIDs as
// NVIDIA's programs write them.
func TestDriver(t *testing.T) {
	p := visibleBy(built(t, driver+"int cuInit(unsigned f) { return f; } int cuDeviceGetCount(int *n) { *n = 2; return 0; }"))
	want := nvidia.Process{CUDA: nvidia.Version{Major: 13, Minor: 0}, Cards: []nvidia.Card{
		{Name: "first", UUID: "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f", Memory: 7000, Capability: nvidia.Version{Major: 8, Minor: 6}},
		{Name: "second", UUID: "GPU-20212223-2425-2627-2829-2a2b2c2d2e2f", Memory: 8000, Capability: nvidia.Version{Major: 8, Minor: 6}}}}
	testkit.Deep(t, p, want)
}

// TestNoDriver: why a process has no card is said, the variable that hides them included.
func TestNoDriver(t *testing.T) {
	t.Setenv(nvidia.VisibleVariable, "-1")
	for _, c := range []struct{ library, why string }{
		{"libredsi-absent.so.1", "there is no libredsi-absent.so.1"},
		{built(t, "int cuInit(unsigned f) { return 0; }"), "lacks functions"},
		{built(t, driver+"int cuInit(unsigned f) { return 100; } int cuDeviceGetCount(int *n) { return 3; }"), `no CUDA-capable device is detected (CUDA_VISIBLE_DEVICES="-1")`},
		{built(t, driver+"int cuInit(unsigned f) { return 0; } int cuDeviceGetCount(int *n) { *n = 0; return 0; }"), `no card (CUDA_VISIBLE_DEVICES="-1")`},
		{built(t, driver+"int cuInit(unsigned f) { return 0; } int cuDeviceGetCount(int *n) { return 999; }"), "unknown error"},
	} {
		if p := visibleBy(c.library); len(p.Cards) > 0 || !strings.Contains(p.Why, c.why) {
			t.Errorf("%+v, want %q", p, c.why)
		}
	}
}
