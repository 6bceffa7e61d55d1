package main

import (
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/headers"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema/sqlite"
)

const clusterName = "active"

// companions are the endings of the files that SQLite keeps beside a database.
var companions = []string{"-wal", "-shm", "-journal"}

// prepareDatabase makes sure that path is a database that this server can open. An unusable one is kept under another
// name, which the note says, and replaced: only the history of runs was there, not results.
func prepareDatabase(path string, attributes []string) (note string, err error) {
	_, err = os.Stat(path)
	if err == nil {
		bad := checkDatabase(path, attributes)
		if bad == nil {
			return "", nil
		}
		if note, err = setAside(path, bad); err != nil {
			return "", err
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	// Created beside and closed, so that the rename leaves a complete database or none. Each has a name of its own: the
	// creation for a server that was killed may go on for a moment.
	left, err := filepath.Glob(path + ".new-*")
	if err != nil {
		return "", err
	}
	for _, name := range left {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	next := fmt.Sprintf("%s.new-%d", path, os.Getpid())
	if err := newDatabase(next, attributes); err != nil {
		return "", err
	}
	return note, os.Rename(next, path)
}

// keeper returns the folder where a start leaves an empty database for the next one: this program's folder, if make
// installed it, else the user's cache folder; "" without one.
func keeper(self string) string {
	if filepath.Base(self) != "redsi-temporal-server" {
		return filepath.Dir(self)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "redsi", "temporal-server")
}

// newDatabase creates an empty database at path: a copy of the one that an earlier start left or, which takes fifty
// times as long, by a process of its own.
func newDatabase(path string, attributes []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	folder := keeper(self)
	empty := filepath.Join(folder, fmt.Sprintf("empty-%08x.db", databaseVersion(attributes)))
	if folder != "" && copyFile(empty, path) == nil && checkDatabase(path, attributes) == nil {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	args := []string{"--create", path}
	for _, a := range attributes {
		args = append(args, "--attribute", a)
	}
	if out, err := exec.Command(self, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	// For the next start, if the folder can be written.
	if folder == "" || os.MkdirAll(folder, 0o755) != nil {
		return nil
	}
	if kept := fmt.Sprintf("%s.new-%d", empty, os.Getpid()); copyFile(path, kept) != nil || os.Rename(kept, empty) != nil {
		_ = os.Remove(kept)
	}
	return nil
}

// copyFile copies a file for this user only, and returns once its bytes are on the disk.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// createDatabase creates a database with Temporal's tables and the namespace.
func createDatabase(path string, attributes []string) error {
	c := &config.SQL{PluginName: sqliteplugin.PluginName, DatabaseName: uriPath(path),
		ConnectAttributes: map[string]string{"mode": "rwc", "synchronous": "off"}}
	if err := sqlite.SetupSchema(c); err != nil {
		return err
	}
	if err := createNamespace(c, attributes); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+uriPath(path))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(fmt.Sprintf("PRAGMA user_version = %d", databaseVersion(attributes))); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// createNamespace adds the namespace "default" if it is not there.
func createNamespace(c *config.SQL, attributes []string) error {
	types := map[string]enums.IndexedValueType{}
	for _, a := range attributes {
		types[a] = enums.INDEXED_VALUE_TYPE_KEYWORD
	}
	ns, err := sqlite.NewNamespaceConfig(clusterName, namespace, false, types)
	if err != nil {
		return err
	}
	return sqlite.CreateNamespaces(c, ns)
}

// release is Temporal's MAJOR.MINOR, with which its tables change, visibility's even under one schema version. It
// upgrades none in SQLite.
func release() string {
	parts := strings.Split(headers.ServerVersion, ".")
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// databaseVersion changes with Temporal's tables and with the attributes, which a namespace has from its beginning.
func databaseVersion(attributes []string) int32 {
	h := fnv.New32a()
	fmt.Fprint(h, release(), sqlite.Version, sqlite.VisibilityVersion, attributes)
	return int32(h.Sum32() & 0x7fffffff)
}

// checkDatabase says why a database cannot be opened by this server.
func checkDatabase(path string, attributes []string) error {
	db, err := sql.Open("sqlite", "file:"+uriPath(path)+"?mode=rw")
	if err != nil {
		return err
	}
	defer db.Close()
	var version int32
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != databaseVersion(attributes) {
		return fmt.Errorf("it is not of Temporal %s, but of another version, or has other search attributes", release())
	}
	// Finds the damage by two servers on one database, each with locks that the other does not see.
	var found string
	if err := db.QueryRow("PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("it is damaged: %s", strings.ReplaceAll(found, "\n", " "))
	}
	var namespaces int
	return db.QueryRow("SELECT count(*) FROM namespaces").Scan(&namespaces)
}

// unusable reports whether a server failed because its database is damaged.
func unusable(err error) bool {
	damaged := []string{"database disk image is malformed", "file is not a database", "no such table", "no such column"}
	return slices.ContainsFunc(damaged, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// setAside gives a database and its companions a name that says what they are.
func setAside(path string, why error) (note string, err error) {
	kept := path + ".unusable-" + time.Now().UTC().Format("20060102T150405.000Z")
	for _, end := range append(companions, "") { // the database last: after a kill, the next start does the rest
		if err := os.Rename(path+end, kept+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return fmt.Sprintf("Temporal's database could not be used (%v). It is kept as %s, which may be deleted, and a new one was started: results are in the store, only the history of runs was there. A run that had not ended is restarted by redsi run, which finds what is done.", why, kept), nil
}

// databaseConfig says how the server opens its database. A write-ahead log without a sync for each write loses nothing
// when the process is killed, and at a power cut only what the next run finds in the store.
func databaseConfig(path string, memory bool) *config.SQL {
	c := &config.SQL{PluginName: sqliteplugin.PluginName}
	if memory {
		c.DatabaseName = "redsi"
		c.ConnectAttributes = map[string]string{"mode": "memory", "cache": "shared"}
		return c
	}
	c.DatabaseName = uriPath(path)
	c.ConnectAttributes = map[string]string{"mode": "rw", "journal_mode": "wal", "synchronous": "normal", "busy_timeout": "10000"}
	return c
}

// uriPath escapes a path for SQLite's file: addresses.
func uriPath(path string) string { return (&url.URL{Path: path}).EscapedPath() }
