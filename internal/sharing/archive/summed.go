package archive

import (
	"crypto/sha256"
	"hash"
	"io"

	"github.com/redsi/redsi/artifacts"
)

// Summed passes bytes on to a writer, counts them and hashes them.
type Summed struct {
	Size int64

	out  io.Writer
	sum  hash.Hash
	each func(n int64)
}

// NewSummed returns a writer to out that calls each, unless it is nil, for each write.
func NewSummed(out io.Writer, each func(n int64)) *Summed {
	return &Summed{out: out, sum: sha256.New(), each: each}
}

// Digest returns the digest of the bytes written so far.
func (s *Summed) Digest() artifacts.Digest { return artifacts.Digest(s.sum.Sum(nil)) }

func (s *Summed) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	s.sum.Write(p[:n])
	s.Size += int64(n)
	if s.each != nil {
		s.each(int64(n))
	}
	return n, err
}
