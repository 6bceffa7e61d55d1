package system

import "golang.org/x/sys/unix"

// FileSystem is the kind of the file system of a folder; its options are not known.
func FileSystem(dir string) (kind, options string) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return "", ""
	}
	return unix.ByteSliceToString(s.Fstypename[:]), ""
}
