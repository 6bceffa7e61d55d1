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
	if err != nil {
		t.Fatal(err)
	}
	dir, attributes := t.TempDir(), []string{"RedsiStep"}
	create := func(name string) []byte {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := newDatabase(path, attributes); err != nil {
			t.Fatal(err)
		}
		if err := checkDatabase(path, attributes); err != nil {
			t.Error(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
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
	if err := os.WriteFile(kept[0], first[:len(first)/2], 0o600); err != nil {
		t.Fatal(err)
	}
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
	if got := keeper("/deps/1.32.2/temporal-server"); got != "/deps/1.32.2" {
		t.Error(got)
	}
	if got := keeper("/venv/bin/redsi-temporal-server"); got != filepath.Join(cache, "redsi", "temporal-server") {
		t.Error(got)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if got := keeper("/venv/bin/redsi-temporal-server"); got != "" {
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
