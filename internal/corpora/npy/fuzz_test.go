package npy

import (
	"bytes"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// FuzzRead reads NumPy files: what is read and written reads the same.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	testkit.None(f, Write(&b, Matrix{Data: []float32{1, 2, 3, 4}, Rows: 2, Cols: 2}))
	saved := goldens.Text(f, "testdata/numpy.npy")
	f.Add(b.Bytes())
	f.Add(saved)
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"))
	f.Add([]byte("\x93NUMPY\x01\x00\x42\x00{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		if len(m.Data) != m.Rows*m.Cols {
			t.Fatalf("%d numbers in %d rows of %d", len(m.Data), m.Rows, m.Cols)
		}
		var first, second bytes.Buffer
		testkit.None(t, Write(&first, m))
		written := bytes.Clone(first.Bytes())
		back, err := Read(&first)
		testkit.None(t, err, "read but not read again")
		if err := Write(&second, back); err != nil || !bytes.Equal(second.Bytes(), written) {
			t.Fatalf("%q is read as other numbers", in)
		}
	})
}
