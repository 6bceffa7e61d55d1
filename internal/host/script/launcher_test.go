package script

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestLauncher: a script names its interpreter in a first line, or by a shell that hands over to it.
func TestLauncher(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "tool"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                                       "",
		"\x7fELF":                                "",
		"#!\nx":                                  "",
		"#!/usr/bin/env -i\nx":                   "",
		"#!/e/python -E -s\nx\n":                 "/e/python",
		"#! /usr/bin/env -S A=1 python3 -u\nx":   "python3",
		"#!/bin/sh\necho\nexec python\n":         "/bin/sh",
		"#!/bin/sh\nexec -a x python\n":          "/bin/sh",
		"#!/bin/sh\nexec $HOME/python x\n":       "/bin/sh",
		"#!/bin/sh\nexec $(which python) x\n":    "/bin/sh",
		"#!/bin/sh\nexec > log\n":                "/bin/sh",
		"#!/bin/sh\nif (\n":                      "/bin/sh",
		"#!/bin/bash\nA=1 exec /e/python -m x\n": "/e/python",
		"#!/bin/sh\n'''exec' /e/python \"$0\" \"$@\"\n' '''\nx\n":                                           "/e/python",
		"#!/bin/sh\n'''exec' \"/my e/python\" \"$0\" \"$@\"\n' '''\nx\n":                                    "/my e/python",
		"#!/bin/sh\n'''exec' '/my e/python' \"$0\" \"$@\"\n' '''\nx(\n":                                     "/my e/python",
		"#!/bin/sh\n'''exec' '/it'\"'\"'s/python' \"$0\" \"$@\"\n' '''\nx\n":                                "/it's/python",
		"#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python' \"$0\" \"$@\"\n' '''\nx(": dir + "/python",
	} {
		testkit.Is(t, Launcher(text, filepath.Join(dir, "tool")), want, text)
	}
	testkit.Is(t, Launcher("#!/bin/sh\nexec \"$(dirname \"$0\")\"/python x\n", ""), "/bin/sh")
}
