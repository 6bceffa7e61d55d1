package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	r := release{files: map[string]file{}, components: map[string]cdx.Component{}}
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	flags.StringVar(&r.product, "make", archive, "what to make: "+strings.Join(products, ", "))
	out := flags.String("out", "dist", "folder to write it to")
	flags.StringVar(&r.platform, "platform", "", "the system and processor of the programs, linux-amd64 for example")
	flags.StringVar(&r.redsi, "redsi", "bin/redsi", "the program")
	flags.StringVar(&r.models, "models", "bin/redsi-models", "the program that computes models")
	flags.StringVar(&r.later, "later", "", "the same for a later libtorch, whose version its name ends with")
	flags.StringVar(&r.server, "server", "", "the embedded Temporal server")
	flags.StringVar(&r.libtorch, "libtorch", "", "folder of libtorch, with lib and licenses")
	flags.StringVar(&r.graphs, "graphs", "", "the library that records what a card is asked for")
	flags.StringVar(&r.commit, "commit", "", "the commit, as git describes it")
	flags.StringVar(&r.version, "version", "", "the release, of the Python package")
	flags.StringVar(&r.libtorchVersion, "libtorch-version", "", "of libtorch")
	when := flags.Int64("time", 0, "of all files, seconds since 1970: the commit's, so that one tree makes the same bytes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !slices.Contains(products, r.product) {
		return fmt.Errorf("-make %s: it makes %s", r.product, strings.Join(products, ", "))
	}
	if r.version == "" {
		return errors.New(`-version is empty: python/redsi/__init__.py has no line __version__ = "…"`)
	}
	r.when = time.Unix(*when, 0).UTC()
	if err := r.collect(); err != nil {
		return err
	}
	if r.product == archive {
		return r.save(filepath.Join(*out, r.archiveName()+".tar.gz"), r.writeArchive)
	}
	name, err := r.addMetadata()
	if err != nil {
		return err
	}
	return r.save(filepath.Join(*out, name), r.writeWheel)
}

// most is the largest wheel that a package index takes by default.
const most = 100e6

// save writes a file completely or not at all, and prints its size and name.
func (r *release) save(path string, write func(io.Writer) error) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	info, err := os.Stat(f.Name())
	if err != nil {
		return err
	}
	if r.product != archive && info.Size() > most {
		return fmt.Errorf("%s has %.1f MB; package indexes take %.0f", path, float64(info.Size())/1e6, most/1e6)
	}
	fmt.Printf("%5.1f MB  %s\n", float64(info.Size())/1e6, path)
	return os.Rename(f.Name(), path)
}
