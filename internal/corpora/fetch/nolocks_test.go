package fetch

import (
	"errors"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/nolocks"
)

// A transfer to where there are no locks is not tried again and again.
func TestWithoutLocks(t *testing.T) {
	body, sum := content(10)
	s, _, _ := flaky(t, body, 0, true)
	r := request(t, sum, s.URL)
	nolocks.Do(t, func() {
		_, err := Get(t.Context(), r)
		if !errors.As(err, new(*Permanent)) || !strings.Contains(err.Error(), r.Partials+" has no file locks") || !strings.Contains(err.Error(), "--state") {
			t.Error(err)
		}
	})
}
