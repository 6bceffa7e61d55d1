package safetensors

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func write(t testing.TB, sources ...Source) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.None(t, Write(&b, map[string]string{"format": "pt"}, sources))
	return b.Bytes()
}

func source(name, dtype string, data string, shape ...int64) Source {
	return Source{Name: name, DType: dtype, Shape: shape, Write: func(w io.Writer) error {
		_, err := io.WriteString(w, data)
		return err
	}}
}

func TestRoundTrip(t *testing.T) {
	file := write(t, source("b", "F32", "aaaabbbb", 2), source("a \"x\"", "BF16", "ccddee", 1, 3), source("none", "U8", "", 0), source("scalar", "I64", "12345678"))
	f, err := Open(bytes.NewReader(file), int64(len(file)))
	testkit.None(t, err)
	testkit.That(t, len(f.Tensors) == 4 && f.Metadata["format"] == "pt", "read", f)
	i := slices.IndexFunc(f.Tensors, func(t Info) bool { return t.Name == `a "x"` })
	if i < 0 {
		t.Fatalf("read %+v", f)
	}
	info := f.Tensors[i]
	if info.DType != "BF16" || len(info.Shape) != 2 {
		t.Fatalf("found %+v", info)
	}
	if data, err := io.ReadAll(f.Open(info)); err != nil || string(data) != "ccddee" {
		t.Errorf("read %q, %v", data, err)
	}
	testkit.Is(t, int(binary.LittleEndian.Uint64(file))%8, 0, "data is not aligned")
}

func TestHostileHeaders(t *testing.T) {
	file := func(header, data string) []byte {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
		return append(append(b, header...), data...)
	}
	// A type that is not known is an error for whoever wants its numbers.
	other := file(`{"a":{"dtype":"C64","shape":[2],"data_offsets":[0,16]}}`, "1234567812345678")
	if f, err := Open(bytes.NewReader(other), int64(len(other))); err != nil || f.Tensors[0].DType != "C64" || f.Tensors[0].Bytes() != 16 {
		t.Errorf("%+v, %v", f, err)
	}
	good := `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":             {nil, "no header length"},
		"huge header":       {binary.LittleEndian.AppendUint64(nil, 1<<63), "is said to have"},
		"too long a header": {file(strings.Repeat(" ", 16<<20+1), ""), "at most 16777216 are read"},
		"larger than file":  {binary.LittleEndian.AppendUint64(nil, 1000), "is said to have"},
		"cut off":           {file(good, "123"), "outside"},
		"trailing":          {file(good, "12345"), "after the last"},
		"not an object":     {file(`[]`, ""), "JSON array"},
		"unfinished":        {file(`{"a":`, ""), "EOF"},
		"twice":             {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, "12"), "duplicate"},
		"overlap":           {file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, "123"), "begins at"},
		"gap":               {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, "12"), "begins at"},
		"negative":          {file(`{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}`, "1"), "shape"},
		"overflow":          {file(`{"a":{"dtype":"F64","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}}`, ""), "too large"},
		"negative offset":   {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}}`, ""), "outside"},
		"wrong size":        {file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, "1234"), "has 8 bytes"},
		"type cut off":      {file(`{"a":{"dtype":"C64","shape":[2],"data_offsets":[0,16]}}`, "1"), "outside"},
		"type backwards":    {file(`{"a":{"dtype":"C64","shape":[2],"data_offsets":[1,0]}}`, "1"), "outside"},
		"one offset":        {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}}`, "1"), "two data_offsets"},
		"after the object":  {file(good+"x", "1234"), "after top-level value"},
		"many dimensions":   {file(`{"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}}`, "1"), "dimensions"},
		"deep":              {file(strings.Repeat(`{"a":`, 20000), ""), ""},
		"fraction":          {file(`{"a":{"dtype":"U8","shape":[0.5],"data_offsets":[0,1]}}`, "1"), "shape"},
		"metadata not text": {file(`{"__metadata__":{"a":1}}`, ""), "__metadata__"},
	} {
		if _, err := Open(bytes.NewReader(c.file), int64(len(c.file))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestWriteChecksItsSources(t *testing.T) {
	for name, s := range map[string][]Source{
		"bytes written": {source("a", "F32", "12345", 1)},
		"twice":         {source("a", "U8", "1", 1), source("a", "U8", "1", 1)},
		"unknown dtype": {source("a", "F33", "1", 1)},
	} {
		testkit.ErrSays(t, Write(io.Discard, nil, s), name)
	}
	var b bytes.Buffer
	testkit.None(t, Write(&b, map[string]string{"a": "b"}, nil))
	if f, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil || len(f.Tensors) != 0 {
		t.Errorf("an empty file: %v, %v", f, err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(write(f, source("b", "F32", "aaaabbbb", 2), source("a", "BF16", "ccddee", 1, 3)))
	f.Fuzz(func(t *testing.T, file []byte) {
		opened, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		for _, info := range opened.Tensors {
			testkit.Of(t, info.Bytes(), info)(io.Copy(io.Discard, opened.Open(info)))
		}
	})
}
