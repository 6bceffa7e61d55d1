package kinds_test

import (
	"testing"

	"github.com/redsi/redsi/kinds/models"
	"github.com/redsi/redsi/step"
)

// allKinds finds the kinds with the halves that compute, as the second program has them.
func allKinds() *step.Registry { return step.NewRegistry(models.Kinds()...) }

// TestHalves: the second program computes every kind, and every part of one.
func TestHalves(t *testing.T) {
	for _, k := range allKinds().Kinds() {
		if !k.Claim && !k.Computable() {
			t.Errorf("kind %s has no half", k.Name)
		}
	}
}
