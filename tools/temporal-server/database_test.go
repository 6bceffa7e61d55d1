package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestMain lets newDatabase start this test's binary as the program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--create" {
		main()
	}
	os.Exit(m.Run())
}

// The first database is left beside the program for the next start, which takes another one only if it cannot be used.
func TestNewDatabase(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	dir, attributes := t.TempDir(), []string{"RedsiStep"}
	create := func(name string) []byte {
		t.Helper()
		path := filepath.Join(dir, name)
		must(t, newDatabase(path, attributes))
		must(t, checkDatabase(path, attributes))
		data, err := os.ReadFile(path)
		must(t, err)
		return data
	}
	first := create("first")
	if !bytes.Equal(create("second"), first) {
		t.Error("the second is no copy of the first")
	}
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(self), "empty-*.db"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%q, %v", kept, err)
	}
	must(t, os.WriteFile(kept[0], first[:len(first)/2], 0o600))
	if third := create("third"); len(third) != len(first) || bytes.Equal(third, first) {
		t.Error("a damaged one was used")
	}
	if fourth := create("fourth"); len(fourth) != len(first) {
		t.Error("the damaged one was not replaced")
	}
	if err := checkDatabase(filepath.Join(dir, "first"), []string{"Other"}); err == nil {
		t.Error("attributes do not count")
	}
}

// A program among others, whose folder may be read-only, keeps nothing there.
func TestKeeper(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	const deps, beside = "/deps/1.32.2/temporal-server", "/venv/bin/redsi-temporal-server"
	if a, b := keeper(deps), keeper(beside); a != filepath.Dir(deps) || b != filepath.Join(cache, "redsi", "temporal-server") {
		t.Error(a, b)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if got := keeper(beside); got != "" {
		t.Error(got)
	}
}

// A user who is only a number gets what Temporal asks for; another one keeps what there is.
func TestNameUser(t *testing.T) {
	t.Setenv("USER", "")
	t.Setenv("HOME", "/home/ada")
	if nameUser("/state"); os.Getenv("USER") != "redsi" || os.Getenv("HOME") != "/home/ada" {
		t.Error(os.Getenv("USER"), os.Getenv("HOME"))
	}
}
