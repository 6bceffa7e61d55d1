package revision

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWheel: a program of pip's is told from one of make or of an archive, whichever scheme pip took.
func TestWheel(t *testing.T) {
	for place, want := range map[string]string{
		"lib/python3.12/site-packages/redsi-0.1.0.dist-info":        "0.1.0", // a virtual environment, or --user
		"lib/python3/dist-packages/redsi-0.2.0rc1.dist-info":        "0.2.0rc1",
		"redsi-0.1.0.dist-info":                                     "0.1.0", // --target
		"lib/python3.12/site-packages/redsi_models-0.1.0.dist-info": "",
		"lib/redsi-models":                                          "",
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, place), 0o755); err != nil {
			t.Fatal(err)
		}
		version, environment := wheelOf(filepath.Join(root, "bin", "redsi"))
		if version != want || want != "" && environment != root {
			t.Errorf("%s: %q, %q", place, version, environment)
		}
	}
}
