package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// released are the programs that a wheel of redsi has, by the names of parts.
var released = []rule{{regexp.MustCompile(`^[^/]+\.data/scripts/redsi-(temporal-server)$`), nil, "$1"}}

// ready takes the server out of the wheel of a release where -versions pins one of the same sources for this platform;
// RELEASED_SERVER is their sum, which the Makefile puts into the part's folder. Else, and if the package index does not
// have that wheel, the server is compiled. A line says which, and why.
func (o options) ready(compile builder) builder {
	return func(ctx context.Context, p partPlace, show *progress) error {
		values, err := readVersions(o.versions)
		if err != nil {
			return err
		}
		if values["RELEASED_SERVER"] == "" {
			return compile(ctx, p, show) // nothing is released
		}
		wheels, err := wheelsFor(values, "RELEASED_"+o.platform)
		if want := values["TEMPORAL_SERVER_VERSION"] + "-" + values["RELEASED_SERVER"] + "-" + o.platform; filepath.Base(p.dir) != want {
			err = fmt.Errorf("%s was made of other sources", want)
		}
		if err == nil {
			err = unpackWheels(ctx, p, show, wheels, released, "")
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			show.line("compiling it, since the released one is not to be had: %s", strings.Join(strings.Fields(err.Error()), " "))
			return compile(ctx, p, show)
		}
		show.line("taken from %s, which has the pinned sha256, and was made of the same sources", wheels[0].file)
		return os.Chmod(filepath.Join(p.new, "temporal-server"), 0o755)
	}
}
