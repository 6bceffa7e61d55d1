package kinds_test

import (
	"testing"

	"github.com/redsi/redsi/kinds/models"
	"github.com/redsi/redsi/step"
)

// whole finds the kinds with the halves that compute, as the second program has them.
func whole() *step.Registry { return step.NewRegistry(models.Kinds()...) }

// TestWhole: the second program computes every kind, and every part of one.
func TestWhole(t *testing.T) {
	for _, k := range whole().Kinds() {
		if !k.Claim && !k.Whole() {
			t.Errorf("kind %s has no half", k.Name)
		}
	}
}
