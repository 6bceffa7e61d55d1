package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts/open"
	"github.com/redsi/redsi/internal/devserver"
	"github.com/redsi/redsi/internal/view"
)

// finding is one thing that doctor looked at.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Note string `json:"note"`           // what was found
	Do   string `json:"do,omitempty"`   // what to do about it
	Soft bool   `json:"soft,omitempty"` // only some uses need it
}

func newDoctorCmd(a *app) *cobra.Command {
	var o clusterOptions
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check what redsi needs on this machine, and say how to get what is missing",
		Example: `  redsi doctor`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := []finding{a.checkBuild(), checkServer(), a.checkState(), a.checkStore(cmd)}
			if o.payloadKey != "" {
				found = append(found, o.checkPayloadKey())
			}
			if text := a.local.sets(cmd.Flags(), a.Profile); text != "" {
				found = append(found, finding{What: "settings", OK: true, Note: text})
			}
			found = append(found, a.checkKinds()...)
			found = append(found, checkTools()...)
			if a.JSON {
				if err := view.WriteJSON(a.Out, found); err != nil {
					return err
				}
			}
			bad := 0
			for _, f := range found {
				if !f.OK && !f.Soft {
					bad++
				}
				if a.JSON {
					continue
				}
				word := map[bool]string{true: "ok", false: "MISSING"}[f.OK]
				view.Printf(a.Out, "%-8s %-16s %s\n", word, f.What, f.Note)
				if f.Do != "" {
					view.Printf(a.Out, "%-8s %-16s -> %s\n", "", "", f.Do)
				}
			}
			if bad > 0 {
				return fmt.Errorf("%d things that every run needs are missing", bad)
			}
			return nil
		},
	}
	o.payloadFlag(cmd)
	return cmd
}

func (a *app) checkBuild() finding {
	return finding{What: "redsi", OK: true, Note: fmt.Sprintf("revision %s, %s, %s/%s, %d kinds", revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH, len(a.Registry.Kinds()))}
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
	f.OK = true
	return f
}

func (a *app) checkStore(cmd *cobra.Command) finding {
	f := finding{What: "store", Note: open.Shown(a.StoreURL)}
	s, err := a.openStore(cmd.Context())
	if err == nil {
		for _, rerr := range s.Records.List(cmd.Context(), "runs/") {
			err = rerr
			break
		}
	}
	if err != nil {
		f.Note, f.Do = err.Error(), "name a store that can be reached: --store"
		return f
	}
	f.OK = true
	return f
}

// checkPayloadKey looks at the file that a run would encrypt with. Nothing of a key is
// shown but its id.
func (o *clusterOptions) checkPayloadKey() finding {
	f := finding{What: "payload key", Note: o.payloadKey}
	codec, err := o.codec()
	if err != nil {
		f.Note, f.Do = err.Error(), "give the file that the runs' other processes use, readable only by you; `(umask 077; openssl rand -hex 32 > FILE)` makes a new one"
		return f
	}
	ids := codec.IDs()
	f.OK, f.Note = true, fmt.Sprintf("%s: %s, %s encrypts", o.payloadKey, view.Count(len(ids), "key"), ids[0])
	return f
}

// checkKinds names kinds that this build cannot run.
func (a *app) checkKinds() []finding {
	var out []finding
	for _, k := range a.Registry.Kinds() {
		if k.Available == nil || k.Hidden {
			continue
		}
		f := finding{What: "kind " + k.Name, OK: true, Soft: true, Note: "needs " + k.Needs + ", which this build has"}
		if err := k.Available(); err != nil {
			f.OK, f.Note = false, err.Error()
		}
		out = append(out, f)
	}
	return out
}

// checkTools looks for programs that set-up needs; a finished build runs
// without them.
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
