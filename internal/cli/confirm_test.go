package cli

import (
	"testing"

	"github.com/redsi/redsi/internal/pipeline/estimate"
)

// TestYes: with --yes nothing is asked, and nothing is read to know whether to ask.
func TestYes(t *testing.T) {
	if err := new(app).confirm(t.Context(), &confirmOptions{above: estimate.UsualLimits, yes: true}, nil, nil); err != nil {
		t.Error(err)
	}
	if err := new(app).confirm(t.Context(), &confirmOptions{above: "much"}, nil, nil); err == nil {
		t.Error("--confirm-above much is taken")
	}
}
