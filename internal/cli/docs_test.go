package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/kinds"
)

// TestKindsReference compares docs/kinds with what the kinds say of themselves.
func TestKindsReference(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := execute(context.Background(), kinds.Registry(), []string{"kinds", "--markdown", dir}, &out, &errs, Paper{}); code != fault.CodeOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	pages := func(dir string) map[string]string {
		names, err := filepath.Glob(dir + "/*")
		errtest.None(t, err)
		found := map[string]string{}
		for _, name := range names {
			b, err := os.ReadFile(name)
			errtest.None(t, err)
			found[filepath.Base(name)] = string(b)
		}
		return found
	}
	if d := cmp.Diff(pages(dir), pages("../../docs/kinds")); d != "" {
		t.Errorf("docs/kinds is not what the kinds say of themselves; run `make docs`:\n%s", d)
	}
}
