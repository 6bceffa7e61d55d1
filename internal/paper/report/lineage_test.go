package report

import (
	"strings"
	"testing"
)

// TestConfigurationsHideCredentials: a lineage shows a configuration's URL without what lets somebody in.
func TestConfigurationsHideCredentials(t *testing.T) {
	const url = "https://user:planted@h/x.gz?a=1&token=planted&X-Amz-Signature=planted"
	got := leaves(nil, "", map[string]any{"url": url, "list": []any{url, "unpinned:" + url}, "deep": []any{map[string]any{"u": url}}, "n": 1.0})
	if len(got) != 4 {
		t.Fatalf("%d leaves: %v", len(got), got)
	}
	for _, l := range got {
		if strings.Contains(l.Value, "planted") || l.Path != "n" && !strings.Contains(l.Value, "token=…") {
			t.Errorf("%s = %s", l.Path, l.Value)
		}
	}
}
