package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
)

var uvFiles = []rule{
	{regexp.MustCompile(`^uv-[^/]*\.data/scripts/(uv)$`), nil, "$1"},
	{regexp.MustCompile(`^([^/]*)\.dist-info/licenses/(LICENSE-[A-Z]+)$`), nil, "licenses/$1/$2"},
}

// uv fills DIR with the program uv, for tests that make environments of Python.
func (o options) uv(ctx context.Context, p partPlace, show *progress) error {
	wheels, err := o.wheels("UV_")
	if err != nil {
		return err
	}
	if err := unpackWheels(ctx, p, show, wheels, uvFiles, ""); err != nil {
		return err
	}
	return os.Chmod(filepath.Join(p.new, "uv"), 0o755)
}
