package unpack

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"testing/iotest"
)

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBzip2Streams: streams in parallel give what compress/bzip2 gives in sequence,
// however the file arrives, and the same kind of error.
func TestBzip2Streams(t *testing.T) {
	two := readFile(t, "../wikipedia/testdata/two-streams.xml.bz2")
	empty := []byte{'B', 'Z', 'h', '9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0}
	damaged := bytes.Clone(two)
	damaged[len(two)/2+40] ^= 1
	for name, b := range map[string][]byte{
		"two": two, "twelve": bytes.Repeat(two, 6), "empty between": slices.Concat(two, empty, two, empty),
		"cut": two[:len(two)-5], "cut in the first": two[:500], "cut in a magic": slices.Concat(two, two[:7]),
		"garbage behind": slices.Concat(two, []byte("xyz")), "damaged": damaged, "no bzip2": []byte("BZhello"), "BZh": []byte("BZh"), "garbage in front": slices.Concat([]byte("BZh9xyz"), two),
	} {
		want, wantErr := io.ReadAll(bzip2.NewReader(bytes.NewReader(b)))
		for _, r := range []io.Reader{bytes.NewReader(b), iotest.OneByteReader(bytes.NewReader(b)), iotest.DataErrReader(bytes.NewReader(b))} {
			m := newMultiBzip2(r)
			got, err := io.ReadAll(m)
			m.close()
			if (err != nil) != (wantErr != nil) || err == nil && !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes and %v, want %d and %v", name, len(got), err, len(want), wantErr)
			}
		}
	}
	m := newMultiBzip2(bytes.NewReader(bytes.Repeat(two, 50)))
	if _, err := m.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	m.close()
	boom := errors.New("reset")
	if _, err := io.ReadAll(newMultiBzip2(io.MultiReader(bytes.NewReader(two[:3000]), iotest.ErrReader(boom)))); !errors.Is(err, boom) {
		t.Error(err)
	}
}
