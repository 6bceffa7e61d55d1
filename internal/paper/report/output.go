package report

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/system/words"
)

func outputsOf(r *artifacts.Result) map[string]artifacts.Artifact {
	if r == nil {
		return nil
	}
	return r.Outputs
}

// Bounds of the data that the page shows.
const (
	previewed    = 256 << 10 // bytes of an artifact that is opened
	previewChars = 800
)

// preview fills in the beginnings of small outputs that are text.
func preview(ctx context.Context, n *Node, read Reader) error {
	if n.result != nil && n.result.Released {
		return nil
	}
	for k := range n.Outputs {
		o := &n.Outputs[k]
		if n.result.Outputs[o.Name].Files != nil || o.Size > previewed || strings.HasPrefix(o.Type, "figure/") || strings.HasPrefix(o.Type, "table/") || o.Type == curveType {
			continue
		}
		b, err := expect.ReadOutput(ctx, n.result, o.Name, read)
		if err != nil {
			return err
		}
		if utf8.Valid(b) && !slices.ContainsFunc([]rune(string(b[:min(len(b), 4096)])), func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' && c != '\r' }) {
			o.Preview = words.Clip(string(b), previewChars)
		}
	}
	return nil
}
