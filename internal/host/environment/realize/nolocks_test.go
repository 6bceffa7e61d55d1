package realize_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/system/nolocks"
)

func TestWithoutLocks(t *testing.T) {
	root := t.TempDir()
	t.Setenv(realize.Variable, root)
	w := realize.Wanted{Name: "environment.py", Recipe: environment.Recipe{Platform: environment.Here()}, Packages: &libraries.Environment{}}
	nolocks.Do(t, func() {
		_, err := new(realize.Place).Use(t.Context(), w, func(string) {})
		var known *realize.Error
		if !errors.As(err, &known) || known.Passing || !strings.Contains(err.Error(), root+" has no file locks") || !strings.Contains(err.Error(), realize.Variable) {
			t.Error(err)
		}
	})
}
