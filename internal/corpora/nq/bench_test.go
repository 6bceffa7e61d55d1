package nq

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
)

// corpus is the real full records as gzip, repeated as members to n bytes of text.
func corpus(tb testing.TB, n int) (gz []byte, size int64) {
	tb.Helper()
	var text []byte
	for _, file := range []string{"real-pages-train-full", "nq-full-walking-dead", "real-pages-dev-full"} {
		text = append(text, goldens.Text(tb, "testdata/"+file+".jsonl.gz")...)
	}
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	if _, err := zw.Write(text); err != nil {
		tb.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		tb.Fatal(err)
	}
	for member := out.Bytes(); size < int64(n); size += int64(len(text)) {
		gz = append(gz, member...)
	}
	return gz, size
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

func BenchmarkGunzip(b *testing.B) {
	gz, size := corpus(b, 300<<20)
	b.SetBytes(size)
	defer cpu(b)()
	for b.Loop() {
		zr, err := gzip.NewReader(bytes.NewReader(gz))
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, zr); err != nil || n != size {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	gz, size := corpus(b, 300<<20)
	b.SetBytes(size)
	b.ReportAllocs()
	defer cpu(b)()
	for b.Loop() {
		rd := NewReader(bytes.NewReader(gz), "bench", Options{})
		var r Record
		for {
			if err := rd.Next(&r); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkDecode is decoding alone: what the scanner saves over the library.
func BenchmarkDecode(b *testing.B) {
	gz, size := corpus(b, 18<<20)
	zr, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var scan lineScanner
	for name, decode := range map[string]func([]byte, *Record) error{
		"scan": func(line []byte, r *Record) error {
			if _, ok := decodeFast(&scan, line, r); !ok {
				return errors.New("not accepted")
			}
			return nil
		},
		"library": func(line []byte, r *Record) error { _, err := decodeLibrary(line, r); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			var r Record
			defer cpu(b)()
			for b.Loop() {
				for _, line := range lines {
					if err := decode(line, &r); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkExtract is gz to a compact stream.
func BenchmarkExtract(b *testing.B) {
	gz, size := corpus(b, 300<<20)
	b.SetBytes(size)
	defer cpu(b)()
	for b.Loop() {
		rd := NewReader(bytes.NewReader(gz), "bench", Options{})
		w, err := NewRecordWriter(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		var r Record
		for {
			if err := rd.Next(&r); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			if err := w.Write(&r); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompactRead reads a compact stream back.
func BenchmarkCompactRead(b *testing.B) {
	gz, size := corpus(b, 18<<20)
	var packed bytes.Buffer
	w, err := NewRecordWriter(&packed)
	if err != nil {
		b.Fatal(err)
	}
	var r Record
	for rd := NewReader(bytes.NewReader(gz), "bench", Options{}); rd.Next(&r) == nil; {
		if err := w.Write(&r); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportMetric(float64(packed.Len())/float64(len(gz)), "size/gz")
	defer cpu(b)()
	for b.Loop() {
		rd := NewRecordReader(bytes.NewReader(packed.Bytes()))
		for {
			if err := rd.Next(&r); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		rd.Close()
	}
}
