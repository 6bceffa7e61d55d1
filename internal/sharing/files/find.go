package files

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
)

// Of finds the files named STEP[.OUTPUT[/FILE]] or by a digest. Their names are the names to write them under.
func Of(ctx context.Context, se *session.Session, name string) (*artifacts.Resolver, []artifacts.File, error) {
	if d, err := artifacts.ParseDigest(name); err == nil {
		store, err := se.OpenStore(ctx)
		if err != nil {
			return store, nil, err
		}
		files, err := filesOfDigest(ctx, store, d)
		return store, files, err
	}
	address, output, file := split(name)
	store, r, err := resultOf(ctx, se, address)
	if err != nil {
		return store, nil, err
	}
	if output == "" {
		return store, filesOfResult(address, r), nil
	}
	art, err := outputOf(address, r, output)
	if err != nil || file == "" {
		return store, art.Named(Names{}.Of(address, output)), err
	}
	f, err := fileOf(art, file)
	if err == nil && art.Files == nil {
		err = fault.Input(fmt.Errorf("output %s is a single file, so there is no %q in it", output, file))
	}
	if err != nil {
		return store, nil, err
	}
	f = art.Follow(f)
	f.Name = path.Base(file)
	return store, []artifacts.File{f}, nil
}

// Blob finds the blob named STEP.OUTPUT[/FILE].
func Blob(ctx context.Context, se *session.Session, name string) (*artifacts.Resolver, artifacts.Digest, error) {
	address, output, file := split(name)
	if output == "" {
		return nil, artifacts.Digest{}, fault.Input(fmt.Errorf("%q is not STEP.OUTPUT", name))
	}
	store, r, err := resultOf(ctx, se, address)
	if err != nil {
		return store, artifacts.Digest{}, err
	}
	art, err := outputOf(address, r, output)
	if err != nil {
		return store, artifacts.Digest{}, err
	}
	f, err := fileOf(art, file)
	return store, f.Digest, err
}

// split cuts ADDRESS.OUTPUT/FILE; without an output, all of it is an address.
func split(arg string) (step, output, file string) {
	step, output = address.Output(arg)
	output, file, _ = strings.Cut(output, "/")
	return step, output, file
}

func resultOf(ctx context.Context, se *session.Session, address string) (*artifacts.Resolver, *artifacts.Result, error) {
	v, i, err := se.PreviewStep(ctx, address)
	if err == nil && v.Items[i].Result == nil {
		err = fmt.Errorf("%s has no result yet: %s", address, se.ToRun(address))
	}
	if err != nil {
		return v.Store, nil, err
	}
	return v.Store, v.Items[i].Result, nil
}

func outputOf(address string, r *artifacts.Result, output string) (artifacts.Artifact, error) {
	art, ok := r.Outputs[output]
	if !ok {
		return art, fault.Input(fmt.Errorf("%s has no output %q; it has %s", address, output, strings.Join(slices.Sorted(maps.Keys(r.Outputs)), ", ")))
	}
	return art, nil
}

func fileOf(art artifacts.Artifact, file string) (artifacts.File, error) {
	var names []string
	for _, f := range art.Named(file) {
		if f.Name == file || file == "" && len(art.Files) == 1 {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return artifacts.File{}, fault.Input(errors.New("this is a tree: append a slash and the name of one of its files: " + strings.Join(names, ", ")))
}

// filesOfResult returns the files of all outputs, with trees in folders of their names.
func filesOfResult(address string, r *artifacts.Result) (files []artifacts.File) {
	for _, output := range slices.Sorted(maps.Keys(r.Outputs)) {
		art := r.Outputs[output]
		for _, f := range art.Named(Names{}.Of(address, output)) {
			if art.Files != nil {
				f.Name = output + "/" + f.Name
			}
			files = append(files, f)
		}
	}
	return files
}

// filesOfDigest finds a result by its key, an output or one of its files, or any blob.
func filesOfDigest(ctx context.Context, store *artifacts.Resolver, d artifacts.Digest) ([]artifacts.File, error) {
	if r, err := artifacts.Lookup(ctx, store, d); err != nil {
		return nil, err
	} else if r != nil {
		return filesOfResult(r.Origin.Step, r), nil
	}
	var found []artifacts.File
	err := artifacts.EachResult(ctx, store, func(r *artifacts.Result) bool {
		for _, output := range slices.Sorted(maps.Keys(r.Outputs)) {
			art := r.Outputs[output]
			if art.Digest == d {
				found = art.Named(Names{}.Of(r.Origin.Step, output))
				return false
			}
			for _, f := range art.Files {
				if f.Digest == d {
					found = []artifacts.File{{Name: path.Base(f.Name), Digest: d, Size: f.Size}}
					return false
				}
			}
		}
		return true
	})
	if err != nil || found != nil {
		return found, err
	}
	missing, err := store.Missing(ctx, []artifacts.Digest{d})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: not found in %s", d, store.Own.URL)
	}
	return []artifacts.File{{Name: strings.TrimPrefix(d.String(), "sha256:"), Digest: d}}, nil
}
