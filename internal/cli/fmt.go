package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	textdiff "github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
)

func newFmtCmd(a *app) *cobra.Command {
	var o formatOptions
	cmd := &cobra.Command{
		Use:   "fmt [FILE|FOLDER...]",
		Short: "Format files of pipelines and tests",
		Long: `Formats files of pipelines and tests in place: indentation, and = signs in one
column. For a folder, or pipelines.hcl, which means its folder, all *.hcl; with
--recursive also those in its subfolders, except hidden ones. The names of changed
files are printed. The meaning of a file never changes. If a file is not HCL, none is written.`,
		Example: `  redsi fmt
  redsi fmt --check examples     # exit 2 if a file would change
  redsi fmt --recursive examples # chapters and modules, too
  redsi fmt --diff pipelines.hcl # show what would change, write nothing`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{a.File}
			}
			return a.format(args, o)
		},
	}
	a.pipelineFlags(cmd)
	cmd.Flags().BoolVar(&o.check, "check", false, "write nothing; exit 2 if a file would change")
	cmd.Flags().BoolVar(&o.diff, "diff", false, "show what would change; write nothing")
	cmd.Flags().BoolVarP(&o.recursive, "recursive", "r", false, "go into folders within the folders")
	return cmd
}

type formatOptions struct{ check, diff, recursive bool }

func (a *app) format(paths []string, o formatOptions) error {
	sources := map[string][]byte{}
	for _, path := range paths {
		if err := readSources(sources, path, o.recursive); err != nil {
			return fault.Input(err)
		}
	}
	if ds := pipeline.CheckSyntax(sources); ds.HasErrors() {
		return fault.Input(ds.Err())
	}
	changed := []string{}
	for _, name := range sortedNames(sources) {
		src := sources[name]
		out := hclwrite.Format(src)
		if bytes.Equal(src, out) {
			continue
		}
		changed = append(changed, name)
		switch {
		case o.diff && !a.JSON:
			d := bytes.NewReader(textdiff.Diff(name, src, name+" (formatted)", out))
			if err := view.Copy(a.Out, d, terminal(a.Out) > 0); err != nil {
				return err
			}
		case !o.check && !o.diff:
			if err := replaceFile(name, src, out); err != nil {
				return err
			}
		}
		if !a.JSON && !o.diff {
			view.Println(a.Out, name)
		}
	}
	if a.JSON {
		if err := view.WriteJSON(a.Out, map[string]any{"changed": changed}); err != nil {
			return err
		}
	}
	if o.check && len(changed) > 0 {
		return fault.Printed(fault.CodeInput)
	}
	return nil
}

// readSources adds the files of pipelines and tests at a path.
func readSources(sources map[string][]byte, path string, recursive bool) error {
	folders := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() && recursive {
		if folders, err = foldersWithin(path); err != nil {
			return err
		}
		if len(folders) == 0 {
			return fmt.Errorf("neither the folder %s nor its subfolders have an *.hcl file", path)
		}
	}
	for _, f := range folders {
		files, err := pipeline.ReadAll(f)
		if err != nil {
			return err
		}
		maps.Copy(sources, files)
	}
	return nil
}

// foldersWithin lists the folders with such files: the folder and its subfolders that are not
// hidden.
func foldersWithin(top string) (folders []string, err error) {
	err = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := name != top && strings.HasPrefix(d.Name(), ".")
		switch {
		case d.IsDir() && hidden:
			return fs.SkipDir
		case !d.IsDir() && !hidden && strings.HasSuffix(name, ".hcl"):
			folders = append(folders, filepath.Dir(name))
		}
		return nil
	})
	slices.Sort(folders)
	return slices.Compact(folders), err
}

// replaceFile writes a file atomically, keeping its permissions, unless it has changed since
// it was read: another edit is never lost.
func replaceFile(name string, was, b []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	switch now, err := os.ReadFile(name); {
	case err != nil:
		return err
	case bytes.Equal(now, b): // another redsi fmt was first
		return nil
	case !bytes.Equal(now, was):
		return fmt.Errorf("%s changed while it was being formatted and was left alone: format it again", name)
	}
	return atomicfile.WriteFile(name, b, info.Mode().Perm())
}

func sortedNames(sources map[string][]byte) []string {
	var names []string
	for n := range sources {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
