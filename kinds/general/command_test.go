package general

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/step"
)

// TestWithoutSecrets: what decides about a retry is left of an error whose text is not.
func TestWithoutSecrets(t *testing.T) {
	hidden := secret.Set{"TOKEN": "planted-value"}
	told := func(cause error) error { return fmt.Errorf("planted-value in a path: %w", cause) }
	var changed *step.SourceChangedError
	var bad *artifacts.IntegrityError
	for what, c := range map[string]struct {
		err error
		is  func(error) bool
	}{
		"plain":     {told(errors.New("x")), func(err error) bool { return !step.IsPermanent(err) }},
		"permanent": {step.Permanent(told(errors.New("x"))), step.IsPermanent},
		"changed": {told(&step.SourceChangedError{Path: "/planted-value/p", Err: errors.New("of planted-value")}),
			func(err error) bool { return errors.As(err, &changed) && changed.Path != "/planted-value/p" }},
		"damaged":   {told(&artifacts.IntegrityError{}), func(err error) bool { return errors.As(err, &bad) }},
		"full disk": {&fs.PathError{Op: "open", Path: "/planted-value", Err: syscall.ENOSPC}, func(err error) bool { return errors.Is(err, syscall.ENOSPC) }},
		"joined":    {errors.Join(told(artifacts.ErrNotExist), errors.New("y")), func(err error) bool { return errors.Is(err, artifacts.ErrNotExist) }},
	} {
		got := withoutSecrets(c.err, hidden)
		for err := got; err != nil; err = errors.Unwrap(err) {
			if strings.Contains(err.Error(), "planted") {
				t.Errorf("%s: a cause says %v", what, err)
			}
		}
		if !c.is(got) {
			t.Errorf("%s: became %v", what, got)
		}
	}
}

// TestCarriageReturns: a script that would fail by the line ends of Windows is refused by a message
// that names them.
func TestCarriageReturns(t *testing.T) {
	const shell, other = "#!/bin/bash\r\necho hi > b.txt\r\n", "#!/usr/bin/env python3\r\nprint(1)\r\n"
	for _, c := range []struct {
		c    commandConfig
		path string
	}{
		{commandConfig{Script: shell}, "script"},
		{commandConfig{Script: other}, ""},
		{commandConfig{Argv: []string{"bash", "b"}, Files: map[string]string{"b": shell}}, "files"},
		{commandConfig{Argv: []string{"/bin/bash", "-c", "set -x\r\necho\r\n"}}, "argv"},
		{commandConfig{Argv: []string{"python3", "-c", "import os\r\nprint(1)\r\n"}}, ""},
		{commandConfig{Argv: []string{"./b"}, Files: map[string]string{"b": other}}, "files"},
		{commandConfig{Argv: []string{"python3", "b"}, Files: map[string]string{"b": other, "c.csv": "a\r\n"}}, ""},
	} {
		c.c.programConfig = programDefaults
		ps, _ := errors.AsType[step.Problems](checkCommand(c.c))
		if len(ps) != min(1, len(c.path)) || len(ps) == 1 && (ps[0].Path != c.path || !strings.Contains(ps[0].Detail, "carriage returns")) {
			t.Errorf("%+v: %v", c.c, ps)
		}
	}
}

// TestProblemsInOrder: the first problem of several at one path is the same each time.
func TestProblemsInOrder(t *testing.T) {
	c := commandConfig{Argv: []string{"./empty"}, Files: map[string]string{"empty": ""}, programConfig: programConfig{ExitCodes: []int{0}}}
	if err := checkCommand(c); err != nil {
		t.Errorf("an empty script among files: %v", err)
	}
	for i := range 9 {
		c.Files[fmt.Sprintf("in/%d", i)] = ""
	}
	for range 20 {
		var ps step.Problems
		if err := checkCommand(c); !errors.As(err, &ps) || !strings.HasPrefix(ps[0].Detail, `"in/0" would be`) {
			t.Fatalf("got %v", err)
		}
	}
}

// TestFolderThere: a program that makes the folder of an output itself is told that it is there.
func TestFolderThere(t *testing.T) {
	const said = "FileExistsError: [Errno 17] File exists: 'res/a'"
	for outputs, hint := range map[string]bool{"res/a/": true, "res/a/x": true, "other/x": false, "res": false} {
		err := commandConfig{programConfig: programConfig{Outputs: []string{outputs}}}.withStrays(&command.ExitError{Argv: []string{"python"}, Code: 1, Tail: said}, t.TempDir())
		if strings.Contains(err.Error(), "exist_ok=True") != hint {
			t.Errorf("of outputs = [%q]: %v", outputs, err)
		}
	}
}

// TestSecretsOfImage: no value of a secret gets onto an engine's command line.
func TestSecretsOfImage(t *testing.T) {
	hex := strings.Repeat("a", 64)
	for name, refused := range map[string]bool{"TOKEN": false, "DOCKER_CONFIG": true} {
		var ps step.Problems
		checkSecrets(&ps, commandConfig{programConfig: programConfig{SecretEnv: map[string]string{name: "env:X"},
			Isolation: "off", Environment: &environmentUse{Kind: "image", Packages: hex, Recipe: hex}}})
		if got := fmt.Sprint(ps); strings.Contains(got, "give the secret another name") != refused {
			t.Errorf("%s: %s", name, got)
		}
	}
}
