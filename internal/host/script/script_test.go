package script

import (
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestInterpreter(t *testing.T) {
	for text, want := range map[string]string{
		"cat in/x\n":                            "bash -euo pipefail",
		"#!/bin/sh\ntrue\n":                     "/bin/sh",
		"#! /bin/bash -eu\r\ntrue\n":            "/bin/bash -eu",
		"#!/usr/bin/env python3\nprint(1)\n":    "python3",
		"#!/usr/bin/env -S python3 -u -B\n":     "python3 -u -B",
		"#!/usr/bin/env A=1 python3\n":          `error: the first line gives env "A=1"`,
		"#!/usr/bin/env -i python3\nprint(1)\n": `error: the first line gives env "-i"`,
		"#!\ntrue\n":                            "error: the first line names no interpreter",
	} {
		argv, err := Interpreter(text)
		got := strings.Join(argv, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestReturns(t *testing.T) {
	for _, c := range []struct {
		name, text    string
		started, want bool
	}{
		{"", "set -x\r\n", false, true},
		{"", "#!/bin/sh\r\ntrue\r\n", false, true},
		{"", "#!/usr/bin/env python3\r\n", false, false},
		{"", "set -x\nprintf 'a\r\n'\n", false, false},
		{"b.sh", "true\r\n", false, true},
		{"lib/b", "#!/usr/bin/env -S bash -e\r\n", false, true},
		{"b.awk", "{ print }\r\n", false, false},
		{"c.py", "#!/usr/bin/env python3\r\n", false, false},
		{"c.py", "#!/usr/bin/env python3\r\n", true, true},
		{"c", "\x7fELF\r\n", true, false},
		{"c.csv", "a,b\r\n", false, false},
	} {
		testkit.Is(t, Returns(c.name, c.text, c.started), c.want, c.name, c.text)
	}
}

func TestShell(t *testing.T) {
	for _, c := range []struct {
		argv, text, calls string
		hidden            uint
	}{
		{"bash -euo pipefail", "bwa mem in/x | samtools sort > out/a.bam\n", "bwa samtools", 0},
		{"sh -c", "cd tmp\nbwa in/x 2>&1 | tee out/a", "bwa", 2},
		{"sh -c", "echo 1 | tr 1 2 > out/a", "", 0},
		{"bash -c", "set -o pipefail; cat in/x | head -1", "", 0},
		{"sh", "./x.sh; in/y; $BIN z; f() { vg; }; f; A=1 exec env B=2 bcftools", "vg bcftools", 0},
		{"sh", "x=$(minimap2 a); for i in 1 2; do /opt/fit $i; done; command -v bwa; a=(1 2)", "minimap2 /opt/fit", 0},
		{"bash", "[[ -f x ]] && time star <(zcat y) ; declare -A m; local z=1; trap 'rm x' EXIT", "star zcat", 0},
	} {
		s, err := Parse(strings.Fields(c.argv), c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := s.Calls(); !slices.Equal(got, strings.Fields(c.calls)) || s.HiddenFailure() != c.hidden {
			t.Errorf("%s: calls %v, want %s; a pipe that hides a failure in line %d, want %d", c.text, got, c.calls, s.HiddenFailure(), c.hidden)
		}
	}
	if _, err := Parse([]string{"bash"}, "true\nif x; then\n"); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("got %v", err)
	}
	if s, err := Parse([]string{"python3"}, "import ("); s != nil || err != nil {
		t.Errorf("Python: got %v %v", s, err)
	}
	for line, want := range map[string]string{"sh -c a": "a", "bash -euo pipefail -c b c": "b", "bash -ec d": "d", "sh x.sh": "", "sh -c": ""} {
		if got, ok := Inline(strings.Fields(line)); got != want || ok != (want != "") {
			t.Errorf("%s: got %q", line, got)
		}
	}
}
