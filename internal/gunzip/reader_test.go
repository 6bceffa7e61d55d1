package gunzip

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// both reads data with this package and with compress/gzip.
func both(data []byte) (got, want []byte, gotErr, wantErr error) {
	read := func(r io.Reader, err error) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	z, err := NewReader(bytes.NewReader(data))
	got, gotErr = read(z, err)
	std, err := gzip.NewReader(bytes.NewReader(data))
	want, wantErr = read(std, err)
	return got, want, gotErr, wantErr
}

// alike are errors of one kind; where a stream is corrupt is noticed earlier or later.
func alike(a, b error) bool {
	var x, y flate.CorruptInputError
	return a == b || errors.As(a, &x) && errors.As(b, &y)
}

func packed(t testing.TB, text []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// texts are such that every kind of block, code and match occurs.
func texts() map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 700_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	skewed := make([]byte, 900_000) // codes of up to 15 bits
	for i := range skewed {
		for skewed[i] < 40 && rng.IntN(2) == 0 {
			skewed[i]++
		}
	}
	var words, runs bytes.Buffer
	for words.Len() < 1_500_000 {
		fmt.Fprintf(&words, `{"end_byte":%d,"html_token":%t,"token":"w%d"},`, words.Len(), rng.IntN(2) == 0, rng.IntN(5000))
	}
	for runs.Len() < 1_500_000 { // matches of every length and short offset
		period := 1 + rng.IntN(40)
		start := rng.IntN(len(noise) - 40)
		for range 1 + rng.IntN(600) {
			runs.Write(noise[start : start+period][:1+rng.IntN(period)])
		}
	}
	far := append(append(bytes.Clone(noise[:32768]), noise[:32768]...), noise[1:32768]...)
	return map[string][]byte{
		"nothing": nil, "a byte": []byte("a"), "noise": noise, "skewed": skewed, "words": words.Bytes(),
		"runs": runs.Bytes(), "far": far, "zeros": make([]byte, 1_000_000),
	}
}

func TestAgainstStandardLibrary(t *testing.T) {
	for name, text := range texts() {
		for _, level := range []int{gzip.NoCompression, gzip.BestSpeed, gzip.DefaultCompression, gzip.BestCompression, gzip.HuffmanOnly} {
			data := packed(t, text, level)
			for how, wrap := range map[string]func(io.Reader) io.Reader{
				"at once": func(r io.Reader) io.Reader { return r }, "data with error": iotest.DataErrReader, "halves": iotest.HalfReader,
			} {
				z, err := NewReader(wrap(bytes.NewReader(data)))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(z)
				if err != nil || !bytes.Equal(got, text) {
					t.Fatalf("%s, level %d, %s: %d bytes of %d, %v", name, level, how, len(got), len(text), err)
				}
				if n, err := z.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("%s: %d, %v after the end", name, n, err)
				}
			}
		}
	}
}

func TestRealFiles(t *testing.T) {
	files, err := filepath.Glob("../nq/testdata/*.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all []byte
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	got, want, gotErr, wantErr := both(all) // as many members
	if gotErr != nil || wantErr != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes, want %d: %v, %v", len(got), len(want), gotErr, wantErr)
	}
}

// Members may be cut anywhere, and each begins with an empty window.
func TestMembers(t *testing.T) {
	text := texts()["words"]
	rng := rand.New(rand.NewPCG(3, 4))
	var data []byte
	for rest := text; len(rest) > 0; {
		n := min(len(rest), rng.IntN(60_000))
		data = append(data, packed(t, rest[:n], rng.IntN(10))...)
		rest = rest[n:]
	}
	got, _, err, _ := both(data)
	if err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%d bytes of %d, %v", len(got), len(text), err)
	}
	// A match into the member before.
	match := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 0x03, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	_, _, gotErr, wantErr := both(append(packed(t, []byte("some text"), 6), match...))
	var c flate.CorruptInputError
	if !errors.As(gotErr, &c) || !errors.As(wantErr, &c) {
		t.Errorf("%v, %v", gotErr, wantErr)
	}
}

func TestHeaders(t *testing.T) {
	body := packed(t, []byte("hello"), 6)[10:]
	head := func(flags byte, rest string) []byte {
		return append([]byte{0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 3}, rest...)
	}
	sum := func(h []byte) []byte {
		return binary.LittleEndian.AppendUint16(h, uint16(crc32.ChecksumIEEE(h)))
	}
	for name, h := range map[string][]byte{
		"plain": head(0, ""), "name": head(8, "a.txt\x00"), "comment": head(16, "c\x00"), "extra": head(4, "\x03\x00abc"),
		"all": sum(head(30, "\x02\x00abname\x00comment\x00")), "digest": sum(head(2, "")), "wrong digest": append(head(2, ""), 1, 2),
		"long name": head(8, strings.Repeat("x", 511)+"\x00"), "too long a name": head(8, strings.Repeat("x", 512)+"\x00"),
		"no gzip": append([]byte("PK"), head(0, "")[2:]...), "no DEFLATE": {0x1f, 0x8b, 7, 0, 0, 0, 0, 0, 0, 0},
		"reserved flags": head(0xe0, ""), "open name": head(8, "a"),
	} {
		got, want, gotErr, wantErr := both(append(bytes.Clone(h), body...))
		if !bytes.Equal(got, want) || !alike(gotErr, wantErr) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, gotErr, want, wantErr)
		}
	}
	for _, data := range [][]byte{{}, {0x1f}, head(0, ""), append(head(0, ""), body[:4]...)} {
		_, _, gotErr, wantErr := both(data)
		if gotErr != wantErr || gotErr == nil {
			t.Errorf("%d bytes: %v, want %v", len(data), gotErr, wantErr)
		}
	}
}

// A stream that is cut or changed anywhere gives what was decoded before, and an
// error.
func TestDamage(t *testing.T) {
	text := append(texts()["words"][:900], texts()["skewed"][:900]...)
	for _, level := range []int{gzip.NoCompression, gzip.BestSpeed, gzip.BestCompression, gzip.HuffmanOnly} {
		data := packed(t, text, level)
		for n := range data {
			got, want, gotErr, wantErr := both(data[:n])
			if gotErr != wantErr || !bytes.HasPrefix(text, got) || len(got) < len(want) {
				t.Fatalf("level %d, cut at %d: %d bytes, %v; want %d, %v", level, n, len(got), gotErr, len(want), wantErr)
			}
			changed := bytes.Clone(data)
			changed[n] ^= 1 << (n % 8)
			got, want, gotErr, wantErr = both(changed)
			if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !bytes.Equal(got, want) {
				t.Fatalf("level %d, changed at %d: %v, want %v", level, n, gotErr, wantErr)
			}
		}
	}
	_, _, err, _ := both(append(packed(t, text, 6), "trailing"...))
	if err != gzip.ErrHeader && err != io.ErrUnexpectedEOF {
		t.Errorf("trailing bytes: %v", err)
	}
	broken := errors.New("broken pipe")
	z, err := NewReader(io.MultiReader(bytes.NewReader(packed(t, text, 6)[:300]), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != broken || !bytes.HasPrefix(text, got) || len(got) == 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// FuzzReader: this package and compress/gzip agree on any DEFLATE stream, which a
// trailer of its own follows.
func FuzzReader(f *testing.F) {
	for _, text := range texts() {
		for _, level := range []int{gzip.NoCompression, gzip.BestSpeed, gzip.BestCompression, gzip.HuffmanOnly} {
			data := packed(f, text[:min(len(text), 2000)], level)
			f.Add(data[10 : len(data)-8])
		}
	}
	f.Add([]byte{0x03, 0x02, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), 64<<20))
		file := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}, data...)
		if err == nil {
			r := bytes.NewReader(data)
			if _, err := io.Copy(io.Discard, flate.NewReader(r)); err != nil {
				t.Fatal(err)
			}
			file = file[:len(file)-r.Len()] // what follows the last block
			file = binary.LittleEndian.AppendUint32(file, crc32.ChecksumIEEE(text))
			file = binary.LittleEndian.AppendUint32(file, uint32(len(text)))
		}
		got, want, gotErr, wantErr := both(file)
		if (gotErr == nil) != (wantErr == nil) || (err == nil) != (gotErr == nil) {
			t.Fatalf("%v, want %v", gotErr, wantErr)
		}
		if gotErr == nil && !bytes.Equal(got, want) || !bytes.HasPrefix(got, want) && !bytes.HasPrefix(want, got) {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
	})
}
