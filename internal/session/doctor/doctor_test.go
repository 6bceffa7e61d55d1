package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// TestFolders: a store that can be used is left as it was, and another one fails with what to do.
func TestFolders(t *testing.T) {
	folder := t.TempDir()
	s, err := dir.Open(folder)
	testkit.None(t, err)
	if f := Store(t.Context(), folder, artifacts.Alone(s), nil); !strings.Contains(f.Note, "can be read and written") {
		t.Errorf("%+v", f)
	}
	for _, err := range s.Records.List(t.Context(), "") {
		t.Errorf("something was left: %v", err)
	}
	if f := Store(t.Context(), folder, artifacts.Alone(s), errors.New("no such bucket")); f.level() != Fail || f.Note != "no such bucket" || f.Do == "" {
		t.Errorf("%+v", f)
	}
	file := filepath.Join(folder, "file")
	testkit.Write(t, file, "")
	if f := State(filepath.Join(file, "state")); f.level() != Fail || !strings.Contains(f.Do, "--state") {
		t.Errorf("%+v", f)
	}
	if f := Store(t.Context(), "mem:", artifacts.Alone(mem.New()), nil); f.level() != OK {
		t.Errorf("%+v", f)
	}
}

// TestCluster: a cluster without workers of a queue is a warning, one that refuses a failure.
func TestCluster(t *testing.T) {
	for name, c := range map[string]struct {
		dialed, asked error
		want          string // levels
	}{
		"no answer": {errors.New("refused"), nil, "fail"},
		"no access": {nil, errors.New("denied"), "fail"},
		"one queue": {nil, nil, "ok ok warn"},
	} {
		polled := func(queue string) (bool, error) { return queue == workflows.TaskQueue, c.asked }
		found := Cluster("127.0.0.1:7233, namespace default", c.dialed, polled, func(queue string) string { return "redsi worker --queue " + queue })
		failed := Leveled(found)
		levels := lists.Map(found, func(f Finding) string { return f.Level })
		if got := strings.Join(levels, " "); got != c.want || (failed > 0) != (c.want == "fail") {
			t.Errorf("%s: %s, %+v", name, got, found)
		}
	}
	if f := PayloadKey("keys", nil, fmt.Errorf("it is readable by others")); f.level() != Fail {
		t.Errorf("%+v", f)
	}
}

// TestCardFindings: doctor says of each way in which cards cannot be used what it is and what to do.
func TestCardFindings(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "0")
	h200 := nvidia.Card{Name: "NVIDIA H200", UUID: "GPU-1", Memory: 150e9, Free: 149e9, Capability: nvidia.Version{Major: 9}}
	v100 := nvidia.Card{Name: "Tesla V100", UUID: "GPU-2", Memory: 16e9, Free: 1e9, Capability: nvidia.Version{Major: 7}}
	machine := nvidia.Machine{Driver: "580.95", CUDA: nvidia.Version{Major: 13}, Cards: []nvidia.Card{h200, v100}}
	old := machine
	old.Driver, old.CUDA = "570.1", nvidia.Version{Major: 12, Minor: 8}
	for name, c := range map[string]struct {
		m    nvidia.Machine
		p    nvidia.Process
		cuda device.CUDA
		want []string // level, what, and words of note and advice
	}{
		"no driver": {nvidia.Machine{Why: "no NVIDIA driver: there is no libnvidia-ml.so.1"}, nvidia.Process{}, device.CUDA{}, []string{
			`ok GPU|none: no NVIDIA driver: there is no libnvidia-ml.so.1; steps with device = "auto" run on the CPU|`}},
		"another driver": {nvidia.Machine{Why: "libnvidia-ml.so.1 cannot be used: Driver/library version mismatch"}, nvidia.Process{}, device.CUDA{}, []string{
			"warn GPU|version mismatch|restart the machine"}},
		"all well": {machine, nvidia.Process{Cards: []nvidia.Card{h200}}, device.CUDA{Cards: 1, Folder: "/deps", Runtime: "13.0", Graphs: "/graphs/libredsi_graphs.so"}, []string{
			"ok GPU driver|580.95, for CUDA up to 13.0|",
			"ok GPU 0|NVIDIA H200, 150 GB, of which 149 GB are free, compute capability 9.0, GPU-1, cuda:0|",
			"warn GPU 1|GPU-2, hidden from this process by CUDA_VISIBLE_DEVICES; compute capability 7.0: this libtorch has code for cards from 7.5 on|device = \"cpu\"",
			"ok GPU libraries|libtorch's CUDA libraries in /deps are loaded, with CUDA 13.0; this process may use 1 card|",
			"ok GPU graphs|recorded once and replayed: /graphs/libredsi_graphs.so|"}},
		"no graphs": {machine, nvidia.Process{Cards: []nvidia.Card{h200, v100}}, device.CUDA{Cards: 2, WhyNoGraphs: "there is no libredsi_graphs.so in /deps: make cuda"}, []string{
			"ok GPU driver||", "ok GPU 0||", "warn GPU 1||", "ok GPU libraries||", "warn GPU graphs|in /deps: make cuda; training launches|make cuda"}},
		"graphs off": {machine, nvidia.Process{Cards: []nvidia.Card{h200, v100}}, device.CUDA{Cards: 2, WhyNoGraphs: "REDSI_CUDA_GRAPHS=off"}, []string{
			"ok GPU driver||", "ok GPU 0||", "warn GPU 1||", "ok GPU libraries||", "warn GPU graphs|REDSI_CUDA_GRAPHS=off;|unset REDSI_CUDA_GRAPHS"}},
		"broken graphs": {machine, nvidia.Process{Cards: []nvidia.Card{h200, v100}}, device.CUDA{Cards: 2, WhyNoGraphs: "the library … does not load: /g.so: file too short"}, []string{
			"ok GPU driver||", "ok GPU 0||", "warn GPU 1||", "ok GPU libraries||", "warn GPU graphs|file too short;|remove that file, then make cuda"}},
		"old driver": {old, nvidia.Process{Cards: []nvidia.Card{h200, v100}}, device.CUDA{Why: "the driver is too old"}, []string{
			"warn GPU driver|570.1: it is for CUDA up to 12.8, libtorch's CUDA half of 13.0: that needs a driver 580 or newer|install a newer driver",
			"ok GPU 0|cuda:0|", "warn GPU 1|cuda:1|", "warn GPU libraries|the driver is too old; steps with|nvidia-smi"}},
		"no libraries": {machine, nvidia.Process{Cards: []nvidia.Card{h200, v100}}, device.CUDA{Why: "no libraries in /deps: make cuda"}, []string{
			"ok GPU driver||", "ok GPU 0||", "warn GPU 1||", "warn GPU libraries|no libraries in /deps|make cuda"}},
		"hidden": {machine, nvidia.Process{Why: `the driver gives this process no card (CUDA_VISIBLE_DEVICES="")`}, device.CUDA{Why: `CUDA_VISIBLE_DEVICES="" hides all cards`}, []string{
			`warn GPU driver|580.95, for CUDA up to 13.0; the driver gives this process no card (CUDA_VISIBLE_DEVICES="")|unset CUDA_VISIBLE_DEVICES`, "ok GPU 0|GPU-1|", "warn GPU 1||", "warn GPU libraries|hides all cards|unset CUDA_VISIBLE_DEVICES"}},
	} {
		found := cardFindings(c.m, device.Facts{Process: c.p, CUDA: c.cuda})
		if len(found) != len(c.want) {
			t.Errorf("%s: %+v", name, found)
			continue
		}
		for i, f := range found {
			want := strings.Split(c.want[i], "|")
			if f.level()+" "+f.What != want[0] || !strings.Contains(f.Note, want[1]) || !strings.Contains(f.Do, want[2]) || (f.Do == "") != (f.level() == "ok") {
				t.Errorf("%s: %s %s %q -> %q, want %q", name, f.level(), f.What, f.Note, f.Do, want)
			}
		}
	}
}

// TestPrograms: each other program on PATH is listed once, with its version; one of another version is a warning.
func TestPrograms(t *testing.T) {
	root := t.TempDir()
	folders := []string{filepath.Join(root, "absent")}
	for _, p := range []struct {
		folder, text string
		mode         os.FileMode
	}{
		{"text", "", 0o644},
		{"old", `echo '{"revision": "v1"}'`, 0o755},
		{"same", `echo '{"revision": "` + revision.Of() + `"}'`, 0o755},
		{"mute", "exit 1", 0o755},
	} {
		file := filepath.Join(root, p.folder, "redsi")
		folders = append(folders, filepath.Dir(file))
		testkit.None(t, errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("#!/bin/sh\n"+p.text), p.mode)))
	}
	testkit.None(t, os.Symlink(filepath.Join(root, "old", "redsi"), filepath.Join(root, "redsi")))
	this := t.TempDir()
	testkit.None(t, os.Symlink(revision.Program(), filepath.Join(this, "redsi")))
	found := Programs(t.Context(), strings.Join(append(folders, root, this), string(filepath.ListSeparator)))
	got := lists.Map(found, func(f Finding) string { return f.level() + " " + strings.ReplaceAll(f.Note, root, "") })
	want := []string{"warn redsi v1, /old/redsi, another version", "ok redsi " + revision.Of() + ", /same/redsi", "ok redsi unknown, /mute/redsi"}
	if s := strings.Join(want, "\n"); strings.Join(got, "\n") != s {
		t.Errorf("%q", got)
	}
}
