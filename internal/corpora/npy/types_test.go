package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func npy(dtype string, rows, cols int, numbers any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }\n", dtype, rows, cols)
	var b bytes.Buffer
	b.WriteString(magic + "\x01\x00")
	_ = binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	_ = binary.Write(&b, binary.LittleEndian, numbers)
	return b.Bytes()
}

// TestOpenAny reads the numbers of the three types, of float16 as numpy converts its bits.
func TestOpenAny(t *testing.T) {
	half := []uint16{0x0000, 0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x0400, 0x3555, 0x7c00, 0xfc00}
	inf := float32(math.Inf(1))
	want := []float32{0, 1, -2, 65504, 5.9604645e-08, 6.097555e-05, 6.1035156e-05, 0.33325195, inf, -inf}
	for _, c := range []struct {
		dtype   string
		numbers any
		want    []float32
	}{
		{"<f2", half, want},
		{"<f4", []float32{1, 0.1}, []float32{1, 0.1}},
		{"<f8", []float64{0.1, 1e300}, []float32{0.1, inf}},
	} {
		v, err := OpenAny(bytes.NewReader(npy(c.dtype, 2, len(c.want)/2, c.numbers)))
		testkit.None(t, err)
		got := make([]float32, len(c.want))
		testkit.None(t, v.Read(got))
		testkit.That(t, slices.Equal(got, c.want) && v.End() == nil, c.dtype, got, "want", c.want)
	}
	if v := halfFloat(0x7e00); v == v {
		t.Errorf("not a number is %v", v)
	}
	for _, dtype := range []string{"<i4", ">f4", "|O"} {
		testkit.ErrSays(t, testkit.Err(OpenAny(bytes.NewReader(npy(dtype, 1, 1, []byte{0, 0, 0, 0})))), dtype)
	}
	if _, err := Open(bytes.NewReader(npy("<f8", 1, 1, []float64{1}))); err == nil {
		t.Error("embeddings of a store are float32")
	}
}
