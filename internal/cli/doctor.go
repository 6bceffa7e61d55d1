package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/open"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/workflows"
)

// finding is the result of one check.
type finding struct {
	What  string `json:"what"`
	OK    bool   `json:"ok"`
	Level string `json:"level"`          // "ok", "warn" or "fail"
	Note  string `json:"note"`           // what was found
	Do    string `json:"do,omitempty"`   // what to do about it
	Soft  bool   `json:"soft,omitempty"` // only some uses need it: a warning

	Card *nvidia.Card `json:"card,omitempty"` // that this is about
}

// level is a finding's level.
func (f finding) level() string {
	switch {
	case f.OK:
		return "ok"
	case f.Soft:
		return "warn"
	}
	return "fail"
}

// Bounds of doctor.
const (
	answersWithin = 10 * time.Second // a program or a server
	diskLow       = 10 << 30         // warns below so many bytes free
	diskFull      = 100 << 20        // and fails below this
)

func newDoctorCmd(a *app) *cobra.Command {
	var o clusterOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine for what redsi needs, and say how to get what is missing",
		Long: `Check this machine for what redsi needs, and say how to get what is missing: the
program, CPU, GPUs, disks, the store (a few bytes are written and deleted), the signing
key, the keys that the pipeline trusts, other stores (--from), the Temporal server or cluster, and what set-up needs.

Each line is ok, warn (only some uses need it) or FAIL. Exit code 1 if a check fails.`,
		Example: `  redsi doctor
  redsi doctor --temporal-address 127.0.0.1:7233 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := a.examine(cmd.Context(), o)
			bad := 0
			for i, f := range found {
				if found[i].Level = f.level(); found[i].Level == "fail" {
					bad++
				}
			}
			if a.JSON {
				if err := view.WriteJSON(a.Out, found); err != nil {
					return err
				}
			} else {
				a.printFindings(found)
			}
			if bad > 0 {
				return fmt.Errorf("%s failed", view.Count(bad, "check"))
			}
			return nil
		},
	}
	o.flags(cmd)
	a.fromFlags(cmd)
	return cmd
}

// examine runs all checks.
func (a *app) examine(ctx context.Context, o clusterOptions) []finding {
	found := append([]finding{a.checkBuild(), checkCores()}, a.checkModels(ctx)...)
	found = append(found, a.checkState())
	found = append(found, a.checkStore(ctx)...)
	a.readResults(ctx)
	found = append(found, a.checkKey(), a.checkTrust())
	found = append(found, a.checkOthers(ctx)...)
	if o.given() {
		found = append(found, a.checkCluster(ctx, o)...)
	} else {
		found = append(found, checkServer())
	}
	if o.payloadKey != "" {
		found = append(found, o.checkPayloadKey())
	}
	if text := a.local.sets(a.cmd.Flags(), a.Profile); text != "" {
		found = append(found, finding{What: "settings", OK: true, Note: text})
	}
	return append(found, checkTools()...)
}

func (a *app) printFindings(found []finding) {
	st := a.style(a.Out)
	for _, f := range found {
		word := f.Level
		if word == "fail" {
			word = "FAIL"
		}
		view.Printf(a.Out, "%s %-16s %s\n", st.Outcome(levelColour[f.Level], word), f.What, f.Note)
		if f.Do != "" {
			view.Printf(a.Out, "%-5s %-16s -> %s\n", "", "", f.Do)
		}
	}
}

// levelColour maps a level to the outcome whose colour it has.
var levelColour = map[string]string{"ok": "hit", "warn": "maybe", "fail": "failed"}

func (a *app) checkBuild() finding {
	return finding{What: "redsi", OK: true, Note: fmt.Sprintf("revision %s, %s, %s/%s, %d kinds",
		revision.Of(), runtime.Version(), runtime.GOOS, runtime.GOARCH, len(a.Registry.Kinds()))}
}

func checkCores() finding {
	f := finding{What: "processors", OK: true, Soft: true, Note: fmt.Sprintf("%d, of which redsi uses %d; training uses those that no other step uses (--slots, --threads)", runtime.NumCPU(), runtime.GOMAXPROCS(0))}
	if n := os.Getenv("OMP_NUM_THREADS"); n != "" {
		f.Note += "; OMP_NUM_THREADS=" + n
	}
	return f
}

func checkServer() finding {
	f := finding{What: "temporal server"}
	p, err := devserver.Find()
	if err != nil {
		f.Note, f.Do = err.Error(), "make deps-embedded (or use a cluster: --temporal-address)"
		return f
	}
	f.OK, f.Note = true, p
	return f
}

// checkCluster dials the named cluster and checks that its queues are polled.
func (a *app) checkCluster(ctx context.Context, o clusterOptions) []finding {
	f := finding{What: "cluster", Note: o.address}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	conn, err := a.dial(ctx, o)
	if err != nil {
		f.Note, f.Do = err.Error(), "check --temporal-address, the profile and its TLS; `temporal operator cluster health` asks the cluster itself"
		return []finding{f}
	}
	defer conn.Close()
	f.Note = fmt.Sprintf("%s, namespace %s", conn.host, conn.ns)
	out := []finding{f}
	for _, queue := range []string{workflows.TaskQueue, workflows.GPUTaskQueue} {
		is, err := polled(ctx, conn.Client, queue, enums.TASK_QUEUE_TYPE_ACTIVITY, nil)
		if err != nil {
			out[0].Note, out[0].Do = out[0].Note+": "+err.Error(), "check --temporal-namespace, and whether the account may use it"
			return out[:1]
		}
		w := finding{What: "workers", OK: is, Soft: true, Note: fmt.Sprintf("queue %s is polled", queue)}
		if !is {
			w.Note, w.Do = "no worker polls queue "+queue, a.hint("worker", "--queue", queue)
		}
		out = append(out, w)
	}
	out[0].OK = true
	return out
}

func (a *app) checkState() finding {
	f := finding{What: "state folder", Note: a.StateDir}
	err := os.MkdirAll(a.StateDir, 0o755)
	if err == nil {
		probe := filepath.Join(a.StateDir, ".doctor")
		err = errors.Join(os.WriteFile(probe, nil, 0o644), os.Remove(probe))
	}
	if err != nil {
		f.Note, f.Do = err.Error(), "name a writable folder: --state DIR"
		return f
	}
	return withDisk(f, a.StateDir)
}

// withDisk adds the free space of its disk to a finding about a folder.
func withDisk(f finding, dir string) finding {
	f.OK = true
	free, ok := system.Free(dir)
	if !ok {
		return f // unknown
	}
	f.Note += ", " + view.Size(free) + " free"
	if free < diskLow {
		f.OK, f.Soft, f.Do = false, free >= diskFull, "free space on its disk, or name another folder"
	}
	return f
}

// checkStore reads the store, and writes and deletes a few bytes there.
func (a *app) checkStore(ctx context.Context) []finding {
	f := finding{What: "store", Note: open.Shown(a.StoreURL)}
	s, err := a.openOwn(ctx)
	if err == nil {
		for _, rerr := range s.Records.List(ctx, "runs/") {
			err = rerr
			break
		}
	}
	if err != nil {
		f.Note, f.Do = err.Error(), "name a store that can be reached: --store"
		return []finding{f}
	}
	left, err := probe(ctx, s)
	switch {
	case err != nil:
		f.Note, f.Do = f.Note+": can be read but not written: "+err.Error(), "runs need a writable store: check permissions and quota, or give another --store"
	case left != nil:
		f.Note, f.Do, f.Soft = f.Note+": cannot delete: "+left.Error(), "runs work, but gc and force do not", true
	default:
		f.OK, f.Note = true, f.Note+", can be read and written"
	}
	if info, err := os.Stat(a.StoreURL); f.OK && err == nil && info.IsDir() {
		f = withDisk(f, a.StoreURL)
	}
	return []finding{f}
}

// probe writes a blob and a record under unique names and deletes them; left is why deleting
// failed.
func probe(ctx context.Context, s artifacts.Store) (left, err error) {
	name := "doctor/" + strings.ToLower(rand.Text())
	d, _, err := s.Blobs.Put(ctx, strings.NewReader(name))
	if err != nil {
		return nil, err
	}
	left = s.Blobs.Delete(ctx, d)
	if err := s.Records.Create(ctx, name, []byte("{}")); err != nil {
		return left, err
	}
	return errors.Join(left, s.Records.Delete(ctx, name)), nil
}

// checkPayloadKey checks the file that a run would encrypt with. Only the ids of keys are
// shown.
func (o *clusterOptions) checkPayloadKey() finding {
	f := finding{What: "payload key", Note: o.payloadKey}
	codec, err := o.codec()
	if err != nil {
		f.Note, f.Do = err.Error(), "give the file that the other processes of the run use, readable only by you; `(umask 077; openssl rand -hex 32 > FILE)` makes a new one"
		return f
	}
	ids := codec.IDs()
	f.OK, f.Note = true, fmt.Sprintf("%s: %s, %s encrypts", o.payloadKey, view.Count(len(ids), "key"), ids[0])
	return f
}

// checkModels checks the program that computes models, and what it finds on this machine.
func (a *app) checkModels(ctx context.Context) []finding {
	f := finding{What: "models", Soft: true}
	facts, err := a.secondProgram().Facts(ctx)
	if err != nil {
		f.Note = fmt.Sprintf("%v; kinds that need it: %s", err, strings.Join(a.computed(), ", "))
		return append([]finding{f}, cardFindings(nvidia.Machine{Why: "not checked"}, device.Facts{})...)
	}
	f.OK, f.Note = true, fmt.Sprintf("%s, libtorch %s with %s; devices: %s", compute.Find(), facts.Libtorch, facts.Instructions, facts.Devices())
	return append([]finding{f}, cardFindings(facts.Machine, facts)...)
}

// checkTools looks for the programs that set-up needs; a finished build does not.
func checkTools() []finding {
	var out []finding
	for _, t := range []struct{ program, use, do string }{
		{"go", "building", "apt-get install golang, or the archive of the Go project"},
		{"g++", "building gotch", "apt-get install g++ (macOS: xcode-select --install)"},
		{"cargo", "building the tokenizers", "apt-get install cargo (macOS: brew install rust)"},
		{"python3", "fetching libtorch with pip", "apt-get install python3-pip (macOS: brew install python)"},
		{"make", "make targets", "apt-get install make (macOS: xcode-select --install)"},
	} {
		f := finding{What: t.program, Soft: true, Note: "for " + t.use}
		if p, err := exec.LookPath(t.program); err == nil {
			f.OK, f.Note = true, p
		} else {
			f.Do = t.do
		}
		out = append(out, f)
	}
	return out
}
