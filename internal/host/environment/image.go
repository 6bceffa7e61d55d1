package environment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/libraries"
)

var imageDigest = regexp.MustCompile(`^([^@\s]+)@sha256:([0-9a-f]{64})$`)

// IsReference reports whether the name of an image is NAME@sha256:DIGEST rather than a file.
func IsReference(name string) bool { return imageDigest.MatchString(name) }

// image returns the manifest of an image: its name and its digest, which Files has for a SIF file.
func (r Recipe) image(platform) (m libraries.Manifest, err error) {
	if parts := imageDigest.FindStringSubmatch(r.Lock); parts != nil {
		m.Distributions = []libraries.Distribution{{Name: "image", Version: r.Lock, Files: parts[2]}}
		return m, nil
	}
	if _, err := artifacts.ParseHex(r.Files[r.Lock]); err != nil {
		return m, fmt.Errorf(`%q is neither an image by its digest, such as "docker.io/library/python@sha256:…", nor a .sif file`, r.Lock)
	}
	m.Distributions = []libraries.Distribution{{Name: "image", Version: "sif sha256:" + r.Files[r.Lock], Files: r.Files[r.Lock]}}
	return m, nil
}

// nix returns the manifest of a flake: its inputs with their hashes, and the flake itself.
func (r Recipe) nix(platform) (m libraries.Manifest, err error) {
	text, err := r.file(r.Lock)
	if err != nil {
		return m, err
	}
	flake, err := r.file("flake.nix")
	if err != nil {
		return m, err
	}
	var lock struct {
		Root  string `json:"root"`
		Nodes map[string]struct {
			Locked struct {
				Hash string `json:"narHash"`
				Rev  string `json:"rev"`
			} `json:"locked"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal([]byte(text), &lock); err != nil {
		return m, fmt.Errorf("%s is not a lock of nix: %w", r.Lock, err)
	}
	for name, n := range lock.Nodes {
		if name == lock.Root {
			continue
		}
		if n.Locked.Hash == "" {
			return m, fmt.Errorf("%s: the input %s has no narHash, so another one would go unnoticed; make it anew: nix flake lock", r.Lock, name)
		}
		m.Distributions = append(m.Distributions, libraries.Distribution{Name: name, Version: cmp.Or(n.Locked.Rev, n.Locked.Hash), Files: n.Locked.Hash})
	}
	m.Files = []libraries.File{{Name: "flake.nix", Is: "the flake", Digest: artifacts.Sum([]byte(flake))}}
	return m, nil
}
