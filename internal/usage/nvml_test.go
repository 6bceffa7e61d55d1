//go:build linux && cgo

package usage

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestNVML: a library with the functions of NVIDIA's is asked for names and energy. It is
// built here: few machines have such cards.
func TestNVML(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Fatal("a build with cgo needs a C compiler: ", err)
	}
	source, library := filepath.Join(t.TempDir(), "fake.c"), filepath.Join(t.TempDir(), "libfake.so")
	if err := os.WriteFile(source, []byte(`
#include <string.h>
static int ready;
int nvmlInit_v2(void) { ready = 1; return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 2; return !ready; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(size_t)(i + 1); return 0; }
int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj) { *mj = 1500 * (size_t)d; return 0; }
int nvmlDeviceGetName(void *d, char *name, unsigned n) { strncpy(name, "A card", n); return 0; }
`), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := nvmlOf(library)
	if j, ok := n.joules(); !ok || j != 4.5 || n.names() != "A card × 2" {
		t.Errorf("%v J, %v, %q", j, ok, n.names())
	}
	absent := nvmlOf(filepath.Join(t.TempDir(), "absent.so"))
	if j, ok := absent.joules(); ok || j != 0 || absent.names() != "" {
		t.Errorf("of a library that is not there: %v, %v, %q", j, ok, absent.names())
	}
}
