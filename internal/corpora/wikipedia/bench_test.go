package wikipedia

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
)

// dump makes a stub dump of about n bytes of text, of varied revisions, and lists
// every thousandth revision.
func dump(tb testing.TB, n int) (gz []byte, size int64, wanted []uint64) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	var text bytes.Buffer
	text.WriteString(header)
	id := uint64(400_000_000)
	words := []string{"rv", "typo", "/* History */", "clean up", "Reverted edits by", "ref", "using [[WP:AWB|AWB]]", "&amp;", "new section", "fix"}
	for page := 1; size+int64(text.Len()) < int64(n); page++ {
		fmt.Fprintf(&text, "  <page>\n    <title>Page %d of %d</title>\n    <ns>0</ns>\n    <id>%d</id>\n", page, rng.IntN(1e6), page*3)
		parent := uint64(0)
		for range 1 + rng.IntN(400) {
			id += uint64(1 + rng.IntN(9))
			if id%1000 == 0 {
				wanted = append(wanted, id)
			}
			fmt.Fprintf(&text, "    <revision>\n      <id>%d</id>\n", id)
			if parent > 0 {
				fmt.Fprintf(&text, "      <parentid>%d</parentid>\n", parent)
			}
			parent = id
			fmt.Fprintf(&text, "      <timestamp>20%02d-%02d-%02dT%02d:%02d:%02dZ</timestamp>\n      <contributor>\n", 1+rng.IntN(18), 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(60))
			fmt.Fprintf(&text, "        <username>User%d</username>\n        <id>%d</id>\n      </contributor>\n", rng.IntN(9999), rng.IntN(3e7))
			fmt.Fprintf(&text, "      <comment>%s %s %d</comment>\n      <model>wikitext</model>\n      <format>text/x-wiki</format>\n", words[rng.IntN(len(words))], words[rng.IntN(len(words))], rng.IntN(1e5))
			fmt.Fprintf(&text, "      <text id=\"%d\" bytes=\"%d\" />\n      <sha1>%015x%016x</sha1>\n    </revision>\n", rng.IntN(9e8), rng.IntN(2e5), rng.Uint64()>>4, rng.Uint64())
		}
		text.WriteString("  </page>\n")
		if text.Len() > 1<<20 {
			size += int64(text.Len())
			text.WriteTo(zw)
		}
	}
	text.WriteString("</mediawiki>\n")
	size += int64(text.Len())
	text.WriteTo(zw)
	if err := zw.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes(), size, wanted
}

// cpu reports the processor time per run, which other work on the machine
// disturbs less than the wall clock.
func cpu(b *testing.B) func() {
	now := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	start := now()
	return func() { b.ReportMetric(float64(now()-start)/float64(b.N)/1e6, "cpu-ms/op") }
}

func BenchmarkScanStub(b *testing.B) {
	gz, size, ids := dump(b, 100<<20)
	wanted := NewWanted(ids)
	b.SetBytes(size)
	defer cpu(b)()
	for b.Loop() {
		table, _, err := ScanStub(context.Background(), bytes.NewReader(gz), "bench", wanted, nil)
		if err != nil || table.Len() != len(ids) {
			b.Fatal(err)
		}
	}
}

// BenchmarkScanPlain is the scan without decompression.
func BenchmarkScanPlain(b *testing.B) {
	gz, size, ids := dump(b, 100<<20)
	plain := goldens.Plain(b, gz)
	wanted := NewWanted(ids)
	b.SetBytes(size)
	defer cpu(b)()
	for b.Loop() {
		if _, _, err := ScanStub(context.Background(), bytes.NewReader(plain), "bench", wanted, nil); err != nil {
			b.Fatal(err)
		}
	}
}
