package pack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/sharing/crate"
	"github.com/redsi/redsi/internal/system/lists"
)

const crateSteps = 256 // how many results are held while a crate is written

func (x *export) writeCrate(ctx context.Context, w *archive.Writer, short []describedFile) error {
	work := x.work()
	work.Title, work.Abstract = cmp.Or(work.Title, x.project.pipeline), cmp.Or(work.Abstract, "A redsi pipeline with its results and how they were computed.")
	about := crate.About{Work: work, Workflow: archive.ProjectDir + x.mainFile(), Language: "HCL", Variables: x.of.Pipeline.Vars, Revision: revision.Of(), Store: strings.TrimSuffix(archive.BlobsDir, "blobs/"),
		Blob: func(d artifacts.Digest) (string, string) {
			if x.blobs.Has(d) {
				return archive.BlobsDir + artifacts.BlobPath(d), ""
			}
			if c := x.blobs[d]; c != nil {
				return "", c.URL
			}
			return "", ""
		}}
	for _, f := range short {
		about.Files = append(about.Files, crate.File{Path: f.name, Name: f.says, Digest: artifacts.Sum(f.data), Size: int64(len(f.data))})
	}
	about.Files = append(about.Files, crate.File{Path: archive.ManifestName, Name: "Digests of this archive's files and records"})
	for _, f := range x.rendered {
		about.Files = append(about.Files, crate.File{Path: f.name, Name: strings.TrimPrefix(f.name, archive.ResultsDir), Digest: f.Digest, Size: f.Size})
	}
	for _, f := range x.project.files {
		if about.LicenseFile == "" && slices.Contains(licenses, f.name) {
			about.LicenseFile = archive.ProjectDir + f.name
		}
		about.Files = append(about.Files, crate.File{Path: archive.ProjectDir + f.name, Name: f.name, Digest: artifacts.Sum(f.data), Size: int64(len(f.data))})
	}
	if about.License == "" && about.LicenseFile == "" {
		x.done.Notes = append(x.done.Notes, "there is no licence, but a deposit and the profile of ro-crate-metadata.json require one: set license in the paper block, or put a LICENSE file next to the pipeline")
	}
	return w.Stream(archive.CrateName, func(out io.Writer) error {
		c := crate.New(out, about)
		steps := lists.Filter(lists.Places(len(x.keys)), func(i int) bool { return !x.keys[i].IsZero() })
		for some := range slices.Chunk(steps, crateSteps) {
			if err := x.crateSteps(ctx, c, some); err != nil {
				return err
			}
		}
		return c.Close()
	})
}

// mainFile is the file that represents the pipeline.
func (x *export) mainFile() string {
	if strings.HasSuffix(x.project.pipeline, ".hcl") {
		return x.project.pipeline
	}
	folder := strings.TrimPrefix(x.project.pipeline+"/", "./")
	first := folder + syntax.DefaultFile
	for _, f := range slices.Backward(x.project.files) {
		if name, ok := strings.CutPrefix(f.name, folder); ok && syntax.IsPart(name) && !strings.Contains(name, "/") {
			first = f.name
		}
	}
	return first
}

// readArtifact finds the inputs in a preimage: text in a configuration cannot match, since its quotes are escaped.
var readArtifact = regexp.MustCompile(`\{"\$input":"(sha256:[0-9a-f]{64})"\}`)

func (x *export) crateSteps(ctx context.Context, c *crate.Writer, steps []int) error {
	keys := lists.Map(steps, func(i int) artifacts.Digest { return x.keys[i] })
	found, err := artifacts.LookupKnown(ctx, x.of.Store, keys)
	if err != nil {
		return err
	}
	for n, i := range steps {
		s, r := &x.of.Plan.Steps[i], found[keys[n]]
		if r == nil {
			return fmt.Errorf("the result of %s has gone: is redsi gc running?", s.Address)
		}
		var preimage struct {
			Config  map[string]json.RawMessage `json:"config"`
			Kind    string                     `json:"kind"`
			Version int                        `json:"version"`
		}
		if err := json.Unmarshal(r.Preimage, &preimage); err != nil {
			return fmt.Errorf("%s: its preimage: %w", s.Address, err)
		}
		var sources struct{ License string }
		_ = json.Unmarshal(s.Task.Config, &sources) // of a kind without a licence it stays empty
		st := crate.Step{Address: s.Address, Rendered: s.IsRendered(), Kind: preimage.Kind, Version: preimage.Version, Config: preimage.Config, Result: r, License: sources.License, Used: usedOf(r.Used)}
		for _, m := range readArtifact.FindAllSubmatch(r.Preimage, -1) {
			d, err := artifacts.ParseDigest(string(m[1]))
			if err != nil {
				return err
			}
			if !slices.Contains(st.Inputs, d) {
				st.Inputs = append(st.Inputs, d)
			}
		}
		if st.Signers, err = x.signers(ctx, r.Key); err != nil {
			return err
		}
		if err := c.Step(st); err != nil {
			return err
		}
	}
	return nil
}

func (x *export) signers(ctx context.Context, key artifacts.Digest) ([]string, error) {
	if !x.signed[key.Hex()] {
		return nil, nil
	}
	all, err := artifacts.Signatures(ctx, x.of.Store.Own.Records, key)
	valid := lists.Filter(all, func(s artifacts.Signed) bool { return s.Err == nil })
	return lists.Map(valid, func(s artifacts.Signed) string { return s.By.String() }), err
}

// usedOf lists the measured resources that a step used.
func usedOf(u *artifacts.Used) (all []crate.Used) {
	if u == nil {
		return nil
	}
	const of, units = "https://github.com/redsi/redsi#used-", "https://qudt.org/vocab/unit/"
	add := func(measured bool, id, name, whose string, value any, unit string) {
		if whose != "" {
			name += " of the " + whose
		}
		if measured {
			all = append(all, crate.Used{Name: name, ID: of + id, Value: value, Unit: unit})
		}
	}
	add(u.CPUOf != "", "cpu_s", "processor time", u.CPUOf, u.CPU, units+"SEC")
	add(u.MemoryOf != "", "memory", "most memory at a time", u.MemoryOf, u.Memory, units+"BYTE")
	add(u.Read > 0, "read", "bytes read from the store", "", u.Read, units+"BYTE")
	add(u.Written > 0, "written", "bytes written to the store", "", u.Written, units+"BYTE")
	add(u.Card != "", "card", "cards", "machine", u.Card, "")
	add(u.CardMemory > 0, "card_memory", "most memory on cards at a time", "", u.CardMemory, units+"BYTE")
	add(u.EnergyOf != "", "energy_j", "energy while the step ran", "machine's "+u.EnergyOf, u.Energy, units+"J")
	return all
}
