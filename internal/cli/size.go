package cli

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/session/fault"
)

// sizeOf reads the size that a flag was given, which is at least one byte.
func sizeOf(flag, text, example string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<62 {
		return 0, fault.Input(fmt.Errorf("%s %s: want a size above 0, such as %s", flag, text, example))
	}
	return int64(n), nil
}
