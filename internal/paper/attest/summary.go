package attest

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
)

// Summary counts a result's attestations: each key once a platform, by its newest one; unsigned ones separately.
type Summary struct {
	People    int      `json:"people"`            // keys that signed
	Trusted   int      `json:"trusted,omitempty"` // of these keys
	Platforms int      `json:"platforms"`         // of signed attestations
	Signed    Verdicts `json:"signed"`
	Unsigned  Verdicts `json:"unsigned"`
	Revoked   int      `json:"revoked,omitempty"` // signed by revoked keys
	Others    int      `json:"others,omitempty"`  // about outputs other than the existing ones

	people, platforms map[string]bool
}

// Verdicts counts verdicts.
type Verdicts struct {
	Same    int `json:"same"`
	Within  int `json:"within"`
	Differs int `json:"differs"`
}

// All returns the total.
func (v Verdicts) All() int { return v.Same + v.Within + v.Differs }

// Sum returns the sum of two counts.
func (v Verdicts) Sum(w Verdicts) Verdicts {
	return Verdicts{v.Same + w.Same, v.Within + w.Within, v.Differs + w.Differs}
}

// Add counts a verdict.
func (v *Verdicts) Add(verdict alike.Verdict) {
	switch verdict {
	case alike.Same:
		v.Same++
	case alike.Within:
		v.Within++
	default:
		v.Differs++
	}
}

func (v Verdicts) String() string {
	return strings.Join(words.Counts(words.Number{N: v.Same, Of: string(alike.Same)}, words.Number{N: v.Within, Of: string(alike.Within)},
		words.Number{N: v.Differs, Of: string(alike.Differs)}), ", ")
}

// Any reports whether there is something to say.
func (s Summary) Any() bool { return s.Signed.All()+s.Unsigned.All()+s.Revoked > 0 }

// Count sums up attestations, oldest first, of a result whose outputs have the digest stands.
func Count(all []Read, stands artifacts.Digest, ring signature.Ring) (s Summary) {
	type who struct {
		signer   string // "": not signed
		by       string // if not signed, the name given
		platform string
	}
	newest := map[who]alike.Verdict{}
	s.people, s.platforms = map[string]bool{}, map[string]bool{}
	for _, a := range all {
		if a.Stands != stands {
			s.Others++
			continue
		}
		standing := ring.Of(a.Signer)
		if standing == signature.Revoked {
			s.Revoked++
			continue
		}
		w := who{platform: a.Machine.Platform(), by: a.By}
		if !a.Signer.IsZero() {
			w.signer, w.by = a.Signer.ID(), ""
			s.platforms[w.platform] = true
			if !s.people[w.signer] && standing == signature.Trusted {
				s.Trusted++
			}
			s.people[w.signer] = true
		}
		newest[w] = a.Verdict
	}
	for w, verdict := range newest {
		if w.signer == "" {
			s.Unsigned.Add(verdict)
		} else {
			s.Signed.Add(verdict)
		}
	}
	s.People, s.Platforms = len(s.people), len(s.platforms)
	return s
}

// String returns "rebuilt by 3 people on 2 platforms: 2 same bytes, 1 within"; "" without any.
func (s Summary) String() string {
	var list []string
	if s.People > 0 {
		trusted := ""
		if s.Trusted > 0 {
			trusted = fmt.Sprintf(", %d of them trusted,", s.Trusted)
		}
		list = append(list, fmt.Sprintf("rebuilt by %d %s%s on %s: %s", s.People, words.Of(s.People, "person", "people"), trusted,
			words.Count(s.Platforms, "platform"), s.Signed))
	}
	if s.Unsigned.All() > 0 {
		word := "unsigned: "
		if s.People == 0 {
			word = "rebuilt, unsigned: "
		}
		list = append(list, word+s.Unsigned.String())
	}
	if s.Revoked > 0 {
		list = append(list, fmt.Sprintf("%d signed by a revoked key, not counted", s.Revoked))
	}
	return strings.Join(list, "; ")
}
