package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

const usage = `usage: deps [options] PART=DIR...     install parts, several at once; those that are complete are left alone
       deps show NAME COMMAND...      run a slow command and report its progress

  libtorch=DIR          libtorch's headers and CPU libraries, from the wheels listed in -versions
  cuda=DIR              libtorch's CUDA half and NVIDIA's libraries for it
  cuda-kernels=DIR      libtorch's CUDA half alone, for tests that ask which kernels it has
  cuda-graphs=DIR       the library that records and replays what a card is asked for; it needs libtorch=DIR
  gotch=DIR             gotch's header and stub archives; its C++ is compiled when libtorch is there
  tokenizers=DIR        libtokenizers.a, from the module in go.mod
  uv=DIR                the program uv, from its wheel
  temporal-server=DIR, minio=DIR   a program, from the module in tools/

With -first, a command runs on the terminal while the parts are installed beside it: they have the processor time that
it leaves, and messages about them wait until it has ended.

options:
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
	if len(args) > 2 && args[0] == "show" {
		b := newBoard(out)
		return runShown(ctx, partPlace{}, b.part(args[1]), "compiling", exec.Command(args[2], args[3:]...), nil)
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	return installAll(ctx, o, newBoard(out))
}

// options say which parts go where.
type options struct {
	versions, platform, header string
	torch                      string // libtorch's version, "" for the usual one
	graphs                     string // the folder of the source of the library of graphs
	jobs                       int
	dirs                       map[string]string // part -> its folder
	keep                       string            // the distribution whose wheel two of the missing parts take
	first                      string            // a command that the parts give way to, "" for none
}

func parse(args []string) (options, error) {
	o := options{dirs: map[string]string{}}
	flags := flag.NewFlagSet("deps", flag.ContinueOnError)
	var help strings.Builder
	flags.SetOutput(&help)
	flags.StringVar(&o.versions, "versions", "tools/versions.mk", "`file` that lists the wheels of libtorch")
	flags.StringVar(&o.torch, "torch", "", "`version` of libtorch, of those in -versions; \"\" for its LIBTORCH_VERSION")
	flags.StringVar(&o.platform, "platform", "linux-amd64", "system and processor, as -versions writes them")
	flags.StringVar(&o.header, "header", "tools/native/gotch-libtorch211.h", "`file` that is forced into gotch's sources")
	flags.StringVar(&o.graphs, "graphs", "internal/model/tensor/cudagraph", "`folder` with the source of cuda-graphs")
	flags.IntVar(&o.jobs, "jobs", 2, "how many parts are compiled at once, gotch beside them")
	flags.StringVar(&o.first, "first", "", "`command` that runs before all else, the installation beside it")
	flags.Usage = func() {}
	err := flags.Parse(args)
	for _, arg := range flags.Args() {
		name, dir, ok := strings.Cut(arg, "=")
		if _, known := builders(o)[name]; !ok || !known || dir == "" {
			err = errors.Join(err, fmt.Errorf("%q is not PART=DIR", arg))
			continue
		}
		o.dirs[name] = filepath.Clean(dir)
	}
	if err != nil || len(o.dirs) == 0 || o.jobs < 1 {
		flags.PrintDefaults()
		return o, errors.Join(err, errors.New(usage+help.String()))
	}
	return o, nil
}

// builders are the functions that fill the parts' folders.
func builders(o options) map[string]builder {
	return map[string]builder{
		"libtorch":        o.libtorch,
		"cuda":            o.cuda,
		"cuda-kernels":    o.cudaKernels,
		"cuda-graphs":     o.cudaGraphs,
		"gotch":           o.gotch,
		"tokenizers":      tokenizers,
		"uv":              o.program("uv", "UV_"),
		"seaweedfs":       o.program("weed", "SEAWEEDFS_"),
		"temporal-server": o.server("tools/temporal-server", "github.com/redsi/redsi/tools/temporal-server"),
		"minio":           o.server("tools/minio", "github.com/minio/minio"),
		"versitygw":       o.server("tools/versitygw", "github.com/versity/versitygw/cmd/versitygw"),
	}
}
