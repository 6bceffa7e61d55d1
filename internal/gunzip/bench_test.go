package gunzip

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// BenchmarkReader and BenchmarkLibrary read real pages.
func BenchmarkReader(b *testing.B) {
	benchmark(b, func(r io.Reader) (io.Reader, error) { return NewReader(r) })
}

func BenchmarkLibrary(b *testing.B) {
	benchmark(b, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })
}

func benchmark(b *testing.B, open func(io.Reader) (io.Reader, error)) {
	data, err := os.ReadFile("../nq/testdata/real-pages-train-full.jsonl.gz")
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 64<<10)
	for b.Loop() {
		z, err := open(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		size := int64(0)
		for {
			n, err := z.Read(buf)
			if size += int64(n); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(size)
	}
}
