package report

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/words"
)

// mostRead bounds a document that the report reads into memory.
const mostRead = 16 << 20

// readOutput reads a small output of a result.
func readOutput(ctx context.Context, r *artifacts.Result, output string, read Reader) ([]byte, error) {
	d, ok := digestOf(r, output)
	if !ok {
		return nil, fmt.Errorf("its result has no output %q", output)
	}
	if size := r.Outputs[output].Size; size > mostRead {
		return nil, fmt.Errorf("its output %q has %d bytes; a report reads at most %d", output, size, mostRead)
	}
	rc, err := read(ctx, d)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	return io.ReadAll(rc)
}

// digestOf finds an output of a result.
func digestOf(r *artifacts.Result, output string) (artifacts.Digest, bool) {
	if r == nil {
		return artifacts.Digest{}, false
	}
	a, ok := r.Outputs[output]
	return a.Digest, ok && a.Files == nil
}

func outputsOf(r *artifacts.Result) map[string]artifacts.Artifact {
	if r == nil {
		return nil
	}
	return r.Outputs
}

// Bounds of what the page shows of data.
const (
	previewed    = 256 << 10 // most bytes of an artifact that is opened
	previewChars = 800
)

// preview fills in the beginnings of small outputs that are text.
func preview(ctx context.Context, n *Node, read Reader) error {
	if n.result != nil && n.result.Released {
		return nil
	}
	for k := range n.Outputs {
		o := &n.Outputs[k]
		if _, ok := digestOf(n.result, o.Name); !ok || o.Size > previewed || strings.HasPrefix(o.Type, "figure/") || strings.HasPrefix(o.Type, "table/") || o.Type == curveType {
			continue
		}
		b, err := readOutput(ctx, n.result, o.Name, read)
		if err != nil {
			return err
		}
		if utf8.Valid(b) && !slices.ContainsFunc([]rune(string(b[:min(len(b), 4096)])), func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' && c != '\r' }) {
			o.Preview = words.Clip(string(b), previewChars)
		}
	}
	return nil
}
