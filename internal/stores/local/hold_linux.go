package local

import (
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Hold makes a socket below folder, named as Create does, on which a file can be mounted. Whoever opens the path where
// nothing is mounted, such as a server that is given the path, meets an error and no empty file.
func Hold(folder, name string) error {
	return below(folder, name, func(root *os.Root) error {
		dir, err := root.Open(path.Dir(name))
		if err != nil {
			return err
		}
		defer dir.Close()
		return unix.Mknodat(int(dir.Fd()), path.Base(name), unix.S_IFSOCK|0o444, 0)
	})
}
