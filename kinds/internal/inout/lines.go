package inout

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/step"
)

// EachLine visits the lines of a file, plain or compressed, by their number from one,
// until visit wants no more. A line is valid during the call.
//
// No more of the file is decompressed than was visited, and yet nothing that visit sees
// is unverified: a digest is of the whole file, so the whole is hashed before the first
// line, which a worker does once for a file that has not changed since (IO.Path).
func EachLine(x *step.IO, f artifacts.File, visit func(n int, line []byte) (more bool, err error)) error {
	path, err := x.Path(f.Digest)
	if err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := unpack.Open(in)
	if err != nil {
		return DataError(fmt.Errorf("%s: %w", f.Name, err))
	}
	defer z.Close()
	lines := unpack.NewLines(z)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return DataError(fmt.Errorf("%s, line %d: %w", f.Name, lines.Number()+1, err))
		}
		if more, err := visit(lines.Number(), line); err != nil || !more {
			return err
		}
	}
}
