package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/kinds"
)

// TestKindsReference compares docs/kinds.md with what the kinds say of themselves.
func TestKindsReference(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := execute(context.Background(), kinds.Registry(), []string{"kinds", "--markdown"}, &out, &errs, Paper{}); code != fault.CodeOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "kinds.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, out.Bytes()) {
		t.Error("docs/kinds.md is not what the kinds say of themselves; run `make docs`")
	}
}
