package npy

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestWriteAndRead(t *testing.T) {
	m := Matrix{Data: []float32{1, -2.5, 3, 0, math.MaxFloat32, 1e-40}, Rows: 2, Cols: 3}
	var b bytes.Buffer
	testkit.None(t, Write(&b, m))
	if n := b.Len(); n != 128+24 || !bytes.HasPrefix(b.Bytes(), []byte("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }")) {
		t.Errorf("%d bytes, %q", n, b.Bytes())
	}
	whole := slices.Clone(b.Bytes())
	if got, err := Read(&b); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("read %+v, %v", got, err)
	}
	// As numpy.save writes it (numpy 1.26.4).
	saved := goldens.Text(t, "testdata/numpy.npy")
	if !bytes.Equal(saved, whole) {
		t.Errorf("numpy.save writes other bytes")
	}

	edit := func(from, to string) string { return strings.Replace(string(whole), from, to, 1) }
	for _, c := range []struct{ in, want string }{
		{"", "not a .npy file"},
		{"PK\x03\x04 something", "not a .npy file"},
		{edit("NUMPY\x01", "NUMPY\x09"), "version 9"},
		{edit("<f4", "<f8"), "dtype <f8"},
		{edit("False", "True "), "header"},
		{edit("(2, 3)", "(6,)  "), "two-dimensional"},
		{edit("(2, 3)", "(2, 0)"), "out of range"},
		{edit("(2, 3)", "(9, 3)"), "ends within the 9 by 3 numbers"},
		{edit("(2, 3)", "(1, 3)"), "more bytes"},
		{string(whole[:9]), "header"},
		{string(whole[:40]), "header"},
		{string(whole[:130]), "ends within the 2 by 3 numbers"},
		{"\x93NUMPY\x02\x00" + string(binary.LittleEndian.AppendUint32(nil, 1<<31)), "a header of 2147483648 bytes"},
	} {
		testkit.ErrSays(t, testkit.Err(Read(strings.NewReader(c.in))), c.want)
	}
	testkit.Some(t, Write(&b, Matrix{Rows: 1, Cols: 1}), "a matrix without its numbers was written")
}
