// Command temporal-server is redsi's embedded Temporal server: Temporal's own
// server and web UI, run from their libraries for one state folder.
//
// It belongs to nobody who can leave. Whoever needs it first starts it; it holds owner.lock, says in server.json where
// it answers, and ends when no process has held clients.lock for a while. Nobody stops it, and nothing is lost when
// somebody kills it: what it has answered is in its database. It listens on 127.0.0.1 only, but for a front end that
// --listen puts on another address of this machine, and only a holder of one of the folder's certificates may call it:
// a worker's may do no more than workers do, and the web UI reads.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

type options struct {
	dir          string
	memory       bool
	listen       string // IP address of the front end; "": loopback
	port, uiPort int
	attributes   []string // keyword search attributes
	notes        []string // for the person who started it
	idle         time.Duration
	long         int    // events
	silent       int    // the claim of another machine that may be taken over
	create       string // only create a database there
}

func (o options) frontend() string { return cmp.Or(o.listen, loopback) }

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "state folder of the server")
	flag.BoolVar(&o.memory, "memory", false, "keep the database in memory")
	flag.StringVar(&o.listen, "listen", "", "IP address of this machine for the gRPC frontend, which other machines may reach then; none: 127.0.0.1")
	flag.IntVar(&o.port, "port", 0, "port of the gRPC frontend; 0: the last one, or a free one")
	flag.IntVar(&o.uiPort, "ui-port", 0, "port of the web UI; 0: the last one, or a free one")
	flag.DurationVar(&o.idle, "idle", 2*time.Second, "how long to stay without a client")
	flag.IntVar(&o.long, "long", 4096, "events after which a workflow is told that its history is long")
	flag.IntVar(&o.silent, "silent", 0, "number of the claim, and all before, to take over though another machine made it")
	flag.Func("attribute", "keyword search attribute to have; may be repeated", appendTo(&o.attributes))
	flag.Func("note", "what to tell the person who started this; may be repeated", appendTo(&o.notes))
	flag.StringVar(&o.create, "create", "", "make an empty database in that file and end")
	flag.Parse()
	syscall.Umask(0o077) // histories and keys are the user's
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "temporal-server:", err)
		os.Exit(1)
	}
	os.Exit(0) // what was answered is in the database: there is nothing to wait for
}

// appendTo returns the function of a flag that may be repeated.
func appendTo(l *[]string) func(string) error {
	return func(s string) error { *l = append(*l, s); return nil }
}

func run(o options) error {
	if o.create != "" {
		return createDatabase(o.create, o.attributes)
	}
	if o.dir == "" || flag.NArg() > 0 {
		return errors.New("redsi starts it, with --dir FOLDER; see --help")
	}
	if ip := net.ParseIP(o.frontend()); ip == nil || ip.IsUnspecified() {
		return fmt.Errorf("--listen %s: want one IP address of this machine", o.listen)
	}
	// A terminal's Ctrl-C and hang-up are for its processes, not for this one.
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()

	f, err := own(o.dir, o.silent)
	if errors.Is(err, errOwned) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	defer f.leave()
	last := f.last()
	if err := os.Remove(f.infoFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	keys, err := loadKeys(filepath.Join(o.dir, "tls"))
	if err != nil {
		return fmt.Errorf("certificates: %w", err)
	}
	path := filepath.Join(o.dir, "temporal.db")
	if !o.memory {
		note, err := prepareDatabase(path, o.attributes)
		if err != nil {
			return fmt.Errorf("database: %w", err)
		}
		if note != "" {
			o.notes = append(o.notes, note)
		}
	}
	info := info{Notes: o.notes, Listen: o.listen}
	if info.Address, info.UI, err = serve(ctx, o, path, last, keys); err != nil {
		if o.memory || !unusable(err) {
			return err
		}
		note, err := setAside(path, err)
		if err != nil {
			return err
		}
		return restart(note)
	}
	if err := writeProfile(o.dir, info.Address); err != nil {
		return err
	}
	if err := f.announce(info); err != nil {
		return err
	}
	f.watch(ctx, o.idle)
	return nil
}

// restart replaces this process, which has the old database open, by a new one.
func restart(note string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, append(append([]string{}, os.Args...), "--note", note), os.Environ())
}
