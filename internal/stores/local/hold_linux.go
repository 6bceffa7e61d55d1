package local

import (
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Hold makes a name below folder, as Create does, at which a file can be mounted. Who opens it
// elsewhere, as a server does that is given the path, meets an error and no empty file: it is a
// socket.
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
