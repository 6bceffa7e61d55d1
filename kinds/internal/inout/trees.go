package inout

import (
	"context"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// EachFile visits the open files below a folder by their slash-separated names, in
// lexical order.
func EachFile(folder string, visit func(name string, in io.Reader) error) error {
	root := os.DirFS(folder)
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		in, err := root.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		return visit(name, in)
	})
}

// CopyFolder makes every file below folder one of a tree output.
func CopyFolder(ctx context.Context, x *step.IO, output, folder string) error {
	return EachFile(folder, func(name string, in io.Reader) error {
		f, err := x.PutFile(ctx, name, in)
		if err != nil {
			return err
		}
		return x.LinkFile(output, f)
	})
}

// StageTree gives a tree input as a folder of files with their own names, linked
// from verified local files: those named, or all of them.
func StageTree(x *step.IO, in step.Input, names ...string) (string, error) {
	folder, err := x.Scratch()
	if err != nil {
		return "", err
	}
	for _, f := range x.Files(in, "file") {
		if len(names) > 0 && !slices.Contains(names, f.Name) {
			continue
		}
		src, err := x.Path(f.Digest)
		if err != nil {
			return "", err
		}
		if err := local.Link(folder, f.Name, src); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// ModelFiles are the names of the files of a Hugging Face folder that opening the model
// reads: config.json first, and its weights in one file or several.
func ModelFiles(x *step.IO, in step.Input) []string {
	return append([]string{"config.json"}, safetensors.Files(Names(x.Files(in, "file")))...)
}

// Names are those of files.
func Names(files []artifacts.File) []string {
	return lists.Map(files, func(f artifacts.File) string { return f.Name })
}
