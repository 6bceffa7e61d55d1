package dense

import (
	"golang.org/x/sys/cpu"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
)

func init() {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI {
		notBelow = func(documents, queries []byte, low *[kmeans.Group]int32) (bits [kmeans.Group]uint64) {
			steps := len(queries) / (4 * kmeans.Group)
			_ = documents[4*strip*steps-1]
			notBelowVNNI(&documents[0], &queries[0], steps, low, &bits)
			return bits
		}
	}
}

//go:noescape
func notBelowVNNI(documents, queries *byte, steps int, low *[kmeans.Group]int32, bits *[kmeans.Group]uint64)
