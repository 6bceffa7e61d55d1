package revision

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPip: a program of pip's is told from one of make or of an archive, whichever scheme pip took.
func TestPip(t *testing.T) {
	for place, version := range map[string]string{
		"lib/python3.12/site-packages/redsi-0.1.0.dist-info":        "0.1.0", // a virtual environment, or --user
		"lib64/python3.12/site-packages/redsi-0.1.0.dist-info":      "0.1.0", // Fedora's own Python
		"lib/python3/dist-packages/redsi-0.2.0rc1.dist-info":        "0.2.0rc1",
		"redsi-0.1.0.dist-info":                                     "0.1.0", // --target
		"lib/python3.12/site-packages/redsi_models-0.1.0.dist-info": "",
		"lib/redsi-models": "",
	} {
		root := filepath.Join(t.TempDir(), "study[12]")
		testkit.None(t, os.MkdirAll(filepath.Join(root, place), 0o755))
		want := ""
		if version != "" {
			want = "pip install redsi_models-" + version + "-*.whl, of make wheel in a clone, in " + root
		}
		testkit.Is(t, pip(filepath.Join(root, "bin", "redsi"), "redsi_models"), want, place)
	}
	if got := Program(); !strings.HasSuffix(got, ".test") {
		t.Error(got)
	}
}
