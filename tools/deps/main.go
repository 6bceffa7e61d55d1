package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

const usage = `usage: deps PART DIR ARGUMENTS

  deps libtorch DIR VERSIONS PLATFORM   libtorch's headers and CPU libraries, from the wheels listed in VERSIONS
  deps gotch DIR HEADER                 gotch's header and stub archives
  deps tokenizers DIR                   libtokenizers.a, from the module in go.mod
  deps server DIR MODULE_DIR PACKAGE    the program of PACKAGE, from the module in MODULE_DIR
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "redsi deps:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	build, err := parse(args)
	if err != nil {
		return err
	}
	name := filepath.Base(filepath.Dir(args[1])) // DEPS/PART/VERSION-PLATFORM
	return install(ctx, name, args[1], newProgress(out, name), build)
}

// parse turns the command line into the function that fills a part's folder.
func parse(args []string) (builder, error) {
	want := map[string]int{"libtorch": 4, "gotch": 3, "tokenizers": 2, "server": 4}
	if len(args) == 0 || len(args) != want[args[0]] {
		return nil, errors.New(usage)
	}
	switch args[0] {
	case "libtorch":
		return libtorch{versions: args[2], platform: args[3]}.build, nil
	case "gotch":
		return gotch{header: args[2]}.build, nil
	case "tokenizers":
		return tokenizers, nil
	default:
		return server{moduleDir: args[2], pkg: args[3]}.build, nil
	}
}
