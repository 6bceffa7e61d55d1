package script

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLaunch: a script names its interpreter in a first line, or by a shell that hands over to it.
func TestLaunch(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "tool")
	if err := os.WriteFile(at, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]Launcher{
		"":                                       {},
		"\x7fELF":                                {},
		"#!\nx":                                  {},
		"#!/usr/bin/env -i\nx":                   {},
		"#!/e/python -E -s\nx\n":                 {"/e/python", "-E -s", "x\n"},
		"#! /usr/bin/env -S A=1 python3 -u\nx":   {"python3", "-u", "x"},
		"#!/bin/sh\necho\nexec python\n":         {"/bin/sh", "", "echo\nexec python\n"},
		"#!/bin/sh\nexec -a x python\n":          {"/bin/sh", "", "exec -a x python\n"},
		"#!/bin/sh\nexec $HOME/python x\n":       {"/bin/sh", "", "exec $HOME/python x\n"},
		"#!/bin/sh\nexec `which python` x\n":     {"/bin/sh", "", "exec `which python` x\n"},
		"#!/bin/bash\nA=1 exec /e/python -m x\n": {"/e/python", "A=1 exec  -m x", ""},
		"#!/bin/sh\n'''exec' /e/python \"$0\" \"$@\"\n' '''\nx\n":                                                  {"/e/python", "", "x\n"},
		"#!/bin/sh\n'''exec' \"/my e/python\" \"$0\" \"$@\"\n' '''\nx\n":                                           {"/my e/python", "", "x\n"},
		"#!/bin/sh\n'''exec' '/my e/python' \"$0\" \"$@\"\n' '''\nx(\n":                                            {"/my e/python", "", "x(\n"},
		"#!/bin/sh\n'''exec' '/it'\"'\"'s/python' \"$0\" \"$@\"\n' '''\nx\n":                                       {"/it's/python", "", "x\n"},
		"#!/bin/sh\n'''exec' \"/my e/python\" -I \"$0\" \"$@\"\n' '''\nx\n":                                        {"/my e/python", "'''exec'  -I \"$0\" \"$@\"", "' '''\nx\n"},
		"#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python' \"$0\" \"$@\"\n' '''\nx = '''\n": {dir + "/python", "", "x = '''\n"},
	} {
		if got := Launch(text, at); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Launch("#!/bin/sh\nexec \"$(dirname \"$0\")\"/python x\n", ""); got.Interpreter != "/bin/sh" {
		t.Errorf("of a script whose path is not known: %q", got)
	}
}
