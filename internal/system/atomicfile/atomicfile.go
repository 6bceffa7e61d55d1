// Package atomicfile writes files that appear completely or not at all, whoever else writes or reads them and whenever
// the process is killed or the power cut.
//
// It must not know what is in them. Package dir of artifacts has its own rules: it also creates without replacing, and
// syncs folders.
package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write creates or replaces the file at path, and creates its folder if need be. The file has the bytes that write gives
// it and exactly the permissions perm. After an error, also of write, path is as it was; the error names path. Of
// simultaneous writers the last wins. A symbolic link at path is replaced, not followed.
func Write(path string, perm fs.FileMode, write func(io.Writer) error) error {
	if err := replace(path, perm, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// WriteFile is Write of b.
func WriteFile(path string, b []byte, perm fs.FileMode) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// WriteJSON is Write of a value as encoding/json writes it, with a newline; indent "" indents nothing.
func WriteJSON(path string, v any, indent string, perm fs.FileMode) error {
	return Write(path, perm, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", indent)
		return e.Encode(v)
	})
}

func replace(path string, perm fs.FileMode, write func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".redsi-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is none
	if err = write(f); err == nil {
		err = errors.Join(f.Chmod(perm), f.Sync()) // before the rename, or a power cut leaves an empty file
	}
	if err = errors.Join(err, f.Close()); err != nil { // some file systems report a full disk only here
		return err
	}
	return os.Rename(f.Name(), path)
}
