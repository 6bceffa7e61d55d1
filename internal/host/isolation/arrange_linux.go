package isolation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// arrange gives this process, in namespaces of its own, a file system that has only what the program may see: what it
// may read, read-only and at its old paths; its folder, at Folder; a few devices; its own /proc and /tmp.
func arrange(o order) error {
	if os.Getpid() != 1 {
		return errors.New("it has no process namespace")
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil { // the program may not trace this process
		return err
	}
	if err := unix.Sethostname([]byte("redsi")); err != nil {
		return fmt.Errorf("host name: %w: %s", err, noNamespaces)
	}
	if err := loopback(); err != nil {
		return fmt.Errorf("loopback network: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount namespace: %w: %s", err, noNamespaces)
	}
	for _, b := range o.Binds { // before take, which then includes them with the folder
		if err := b.mount(); err != nil {
			return err
		}
	}
	parts, err := take(o)
	if err != nil {
		return err
	}
	// The new root hides the folder, of which there is a copy in parts.
	root := o.Dir
	if err := unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return fmt.Errorf("mount a root: %w", err)
	}
	for _, p := range parts {
		if err := p.put(root); err != nil {
			return fmt.Errorf("mount %s: %w", p.at, err)
		}
	}
	if err := makeLinks(root, o.Links); err != nil {
		return err
	}
	proc := filepath.Join(root, "proc")
	if err := errors.Join(os.Mkdir(proc, 0o555), unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")); err != nil {
		return fmt.Errorf("mount /proc (a container that masks its own does not allow it): %w", err)
	}
	shm := filepath.Join(root, "dev", "shm")
	if err := errors.Join(os.Mkdir(shm, 0o755), unix.Mount("tmpfs", shm, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")); err != nil {
		return fmt.Errorf("mount /dev/shm: %w", err)
	}
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("take the new root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// part is a piece of the old file system, detached from it.
type part struct {
	fd     int
	at     string
	folder bool
}

// take detaches the pieces that the program may see.
func take(o order) ([]part, error) {
	var parts []part
	one := func(from, at string, readOnly bool) error {
		info, err := os.Stat(from)
		if err != nil {
			return err
		}
		attributes := uint64(unix.MOUNT_ATTR_NOSUID)
		if readOnly {
			attributes |= unix.MOUNT_ATTR_RDONLY
		}
		fd, err := detached(from, unix.AT_RECURSIVE, attributes)
		if err != nil {
			return err
		}
		parts = append(parts, part{fd, at, info.IsDir()})
		return nil
	}
	if err := errors.Join(one(o.Dir, Folder, false), one(filepath.Join(o.Dir, "tmp"), "/tmp", false)); err != nil {
		return nil, err
	}
	for _, d := range devices {
		if err := one(d, d, false); err != nil {
			return nil, err
		}
	}
	placed := []string{}
	for _, r := range o.Reads { // sorted: a folder comes before what is in it
		if under(r, placed) {
			continue
		}
		if err := one(r, r, true); err != nil {
			return nil, err
		}
		placed = append(placed, r)
	}
	return parts, nil
}

// put mounts a piece below the new root.
func (p part) put(root string) error {
	at := filepath.Join(root, p.at)
	var err error
	if p.folder {
		err = os.MkdirAll(at, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(at), 0o755); err == nil {
		var f *os.File
		if f, err = os.OpenFile(at, os.O_CREATE|os.O_RDONLY, 0o444); err == nil {
			err = f.Close()
		}
	}
	if err == nil {
		err = unix.MoveMount(p.fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
	}
	return errors.Join(err, unix.Close(p.fd))
}

// makeLinks copies links that lie in none of the mounts, such as /bin, and creates the links of /dev.
func makeLinks(root string, links []link) error {
	for _, l := range links {
		at := filepath.Join(root, l.At)
		if _, err := os.Lstat(at); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(l.To, at); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink(to, filepath.Join(root, "dev", name)); err != nil {
			return err
		}
	}
	return nil
}

// loopback brings up the only network of this namespace.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}
