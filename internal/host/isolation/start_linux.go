package isolation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// order is what the helper is told, through a socket since it has secrets. Its Reads exist and have no links in them.
type order struct {
	Box
	Argv, Env []string
	Links     []link // by which Program and Reads are named
}

// answer is what the helper says.
type answer struct {
	Error  string        `json:",omitempty"` // it cannot isolate
	Exec   syscall.Errno `json:",omitempty"` // the program does not start
	Began  bool          `json:",omitempty"` // the program runs
	Status *uint32       `json:",omitempty"` // the program has ended so
}

// Running is a program that runs in a box.
type Running struct {
	conn   *net.UnixConn
	status *syscall.WaitStatus
	heard  chan struct{} // closed when all that the helper says has been read
	watch  watch
	done   chan struct{} // closed when the watch has ended
	stop   *os.File      // closing it ends the watch
}

// Start starts the program that cmd describes, in a box. cmd.Process is a helper, this very executable, which becomes
// or starts the program. The error is a *SetupError, a *BindError, or of the program's start.
func (b Box) Start(cmd *exec.Cmd) (*Running, error) {
	refused := func(err error) error {
		if len(b.Binds) > 0 {
			return &BindError{err}
		}
		return &SetupError{b.Mode, err}
	}
	reads, links, err := b.readable()
	if err != nil {
		return nil, refused(err)
	}
	o := order{b, cmd.Args, cmd.Env, links}
	o.Reads = reads
	if rel, err := filepath.Rel(b.Dir, b.Program); err == nil && filepath.IsLocal(rel) {
		o.Program = b.Path(rel)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, refused(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "helper"), os.NewFile(uintptr(pair[1]), "helper")
	defer theirs.Close()
	c, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		return nil, refused(err)
	}
	r := &Running{conn: c.(*net.UnixConn), heard: make(chan struct{}), done: make(chan struct{}),
		watch: watch{box: b, reads: reads, log: log{index: map[[2]string]int{}}}}

	cmd.Path, cmd.Args, cmd.Err = "/proc/self/exe", []string{helperName}, nil
	cmd.Dir, cmd.Env, cmd.ExtraFiles = "/", helperEnv(), []*os.File{theirs}
	if b.Mode == Enforce || len(b.Binds) > 0 {
		namespaces(cmd.SysProcAttr, b.Mode)
	}
	if err := cmd.Start(); err != nil {
		r.conn.Close()
		if b.Mode == Enforce {
			err = fmt.Errorf("%w: %s", err, noNamespaces)
		}
		return nil, refused(err)
	}
	theirs.Close() // so that its end is the helper's end
	err = json.NewEncoder(r.conn).Encode(o)
	if b.Mode == Off { // nothing is watched
		close(r.done)
	} else if err == nil {
		err = r.begin()
	}
	if err != nil {
		err = refused(err)
	} else {
		began := make(chan error, 1)
		go r.hear(b.Mode, began)
		err = <-began
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		r.conn.Close()
		return nil, err
	}
	return r, nil
}

// begin begins to watch the helper, by the descriptor that comes with its first answer, and tells it to go on.
func (r *Running) begin() error {
	buf, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	n, on, _, _, err := r.conn.ReadMsgUnix(buf, oob)
	if err != nil || n == 0 {
		return fmt.Errorf("the helper ended before it began (%v)", err)
	}
	var a answer
	if err := json.Unmarshal(buf[:n], &a); err != nil {
		return err
	}
	if a.Error != "" {
		return errors.New(a.Error)
	}
	listener, err := received(oob[:on])
	if err != nil {
		return err
	}
	stopR, stopW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	r.stop, r.watch.fd = stopW, int(listener.Fd())
	go func() {
		defer close(r.done)
		defer listener.Close()
		defer stopR.Close()
		r.watch.run(int(stopR.Fd()))
	}()
	_, err = r.conn.Write([]byte{'\n'})
	return err
}

// hear reads that the program began, or why not, and how it ended. A helper that becomes the program says no more.
func (r *Running) hear(mode Mode, began chan<- error) {
	defer close(r.heard)
	for d := json.NewDecoder(r.conn); ; {
		var a answer
		err := d.Decode(&a)
		switch {
		case errors.Is(err, io.EOF) && mode == Enforce:
			err = errors.New("the helper ended before the program began")
		case errors.Is(err, io.EOF):
			err = nil
		case err == nil && a.Error != "":
			err = errors.New(a.Error)
		case err == nil && a.Exec != 0:
			began <- a.Exec
			return
		case err == nil && a.Began:
			began <- nil
			continue
		case err == nil && a.Status != nil:
			r.status = new(syscall.WaitStatus(*a.Status))
			return
		}
		switch {
		case err == nil:
		case mode == Off: // the helper is there only for binds
			err = &BindError{err}
		default:
			err = &SetupError{mode, err}
		}
		select {
		case began <- err: // it takes one
		default:
		}
		return
	}
}

// End returns, after cmd was waited for, the findings, and how the program ended if it was not cmd.Process itself.
func (r *Running) End() (Findings, *syscall.WaitStatus) {
	<-r.heard
	r.conn.Close()
	if r.stop != nil {
		r.stop.Close()
	}
	<-r.done
	return r.watch.log.found, r.status
}

func received(oob []byte) (*os.File, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) != 1 {
		return nil, fmt.Errorf("the helper sent no descriptor (%v)", err)
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("the helper sent %d descriptors (%v)", len(fds), err)
	}
	unix.CloseOnExec(fds[0])
	return os.NewFile(uintptr(fds[0]), "watch"), nil
}

// helperEnv is what this executable needs to start: where its libraries are. It is never nil, which would be all.
func helperEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return !strings.HasPrefix(v, "LD_LIBRARY_PATH=") && !strings.HasPrefix(v, "GOCOVERDIR=")
	})
}

const noNamespaces = "it needs user, mount, network and process namespaces; allow them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns, the seccomp profile of a container), or use isolation = \"warn\""

// namespaces gives the helper a mount namespace and, under Enforce, further ones, in which this account keeps its
// number and has the rights to arrange them.
func namespaces(a *syscall.SysProcAttr, mode Mode) {
	a.Cloneflags = unix.CLONE_NEWNS
	if mode == Enforce {
		a.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	}
	if os.Getuid() != 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
	}
	if a.Cloneflags&unix.CLONE_NEWUSER != 0 {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
}
