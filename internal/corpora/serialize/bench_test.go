package serialize

import (
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// BenchmarkDocument reports ns per record and MB/s of document_html on the real
// record of 202 KB.
func BenchmarkDocument(b *testing.B) {
	r := records(b, "nq-full-walking-dead.jsonl.gz", nq.Train)[0]
	for _, form := range Forms {
		b.Run(string(form), func(b *testing.B) {
			s := newSerializer(b, form, nil)
			b.SetBytes(int64(len(r.HTML)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Document(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPages is HtmlNorm over the distinct revisions of the real pages, the
// work that bench/peers/htmlnorm.py does in Python.
func BenchmarkPages(b *testing.B) {
	var pages []*nq.Record
	size := 0
	for _, f := range []string{"nq-full-walking-dead.jsonl.gz", "real-pages-train-full.jsonl.gz", "real-pages-dev-full.jsonl.gz"} {
		pages = append(pages, records(b, f, nq.Train)...)
	}
	for _, r := range pages {
		size += len(r.HTML)
	}
	s := newSerializer(b, HtmlNorm, nil)
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, r := range pages {
			if _, err := s.Document(r); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pages)), "ns/record")
}
