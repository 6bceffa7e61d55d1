package torchfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// A cut file is an error; one with a changed byte is an error or a file whose
// tensors can be read.
func TestDamagedFiles(t *testing.T) {
	for _, name := range []string{"pytorch_model.bin", "pytorch_model_legacy.bin"} {
		data := testkit.Value(os.ReadFile("../../t5/testdata/v1_0/" + name))(t)
		try := func(damaged []byte) error {
			f, err := Open(bytes.NewReader(damaged), int64(len(damaged)))
			if err != nil {
				return err
			}
			for _, info := range f.Tensors {
				if n, err := io.Copy(io.Discard, f.Open(info)); n != info.bytes || (err == nil) != (info.width > 0) {
					t.Errorf("%s: %s: %d bytes, %v", name, info.Name, n, err)
				}
			}
			return nil
		}
		for n := 0; n < len(data); n += 4999 {
			if try(data[:n]) == nil {
				t.Errorf("%s cut to %d bytes was accepted", name, n)
			}
		}
		for at := 0; at < min(len(data), 4000); at += 7 {
			damaged := bytes.Clone(data)
			damaged[at] ^= 0x5a
			try(damaged)
		}
	}
}

// archive is a zip file as torch.save lays it out, with that pickle.
func archive(t testing.TB, pickle string, storages map[string]string) []byte {
	t.Helper()
	return archiveBy(t, zip.Store, pickle, storages)
}

func archiveBy(t testing.TB, method uint16, pickle string, storages map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	put := func(name, data string) {
		w := testkit.Value(z.CreateHeader(&zip.FileHeader{Name: name, Method: method}))(t)
		testkit.None(t, testkit.Err(io.WriteString(w, data)))
	}
	put("model/data.pkl", pickle)
	for key, data := range storages {
		put("model/data/"+key, data)
	}
	testkit.None(t, z.Close())
	return b.Bytes()
}

// pickleOf is a dictionary with one tensor.
func pickleOf(storageType, key string, args string) string {
	return "\x80\x02}" + text("a") + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + storageType + "\n" + text(key) + text("cpu") + "K\x04tQ" + args + "tRs."
}

func text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

const twoByTwo = "K\x00K\x02K\x02\x86K\x02K\x01\x86\x89ccollections\nOrderedDict\n)R" // offset 0, shape (2, 2), strides (2, 1)

// TestStrides: a tensor's elements come in row order, however they lie; and a tensor of numbers that are not known is an
// error where it is read, not where the file is opened.
func TestStrides(t *testing.T) {
	untyped := strings.NewReplacer("ctorch\nFloatStorage", "ctorch.storage\nUntypedStorage", "_v2", "_v3")
	for name, c := range map[string]struct{ pickle, dtype, want string }{
		"in order":       {pickleOf("ShortStorage", "0", twoByTwo), "I16", "aabbccdd"},
		"transposed":     {pickleOf("ShortStorage", "0", "K\x00K\x03K\x02\x86K\x01K\x03\x86\x89N"), "I16", "aaddbbeeccff"},
		"every second":   {pickleOf("ShortStorage", "0", "K\x01K\x03\x85K\x02\x85\x89N"), "I16", "bbddff"},
		"one repeated":   {pickleOf("ShortStorage", "0", "K\x01K\x03K\x01\x86K\x00K\x07\x86\x89N"), "I16", "bbbbbb"},
		"none":           {pickleOf("ShortStorage", "0", "K\x00K\x00K\x05\x86K\x00K\x00\x86\x89N"), "I16", ""},
		"complex":        {pickleOf("ComplexFloatStorage", "0", twoByTwo), "ComplexFloatStorage", "numbers of type ComplexFloatStorage are not read"},
		"fp8 of torch 2": {untyped.Replace(pickleOf("FloatStorage", "0", "K\x00K\x02\x85K\x01\x85\x89Nctorch\nfloat8_e4m3fn\n")), "float8_e4m3fn", "numbers of type float8_e4m3fn are not read"},
	} {
		file := archive(t, c.pickle, map[string]string{"0": "aabbccddeeff"})
		f, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil || len(f.Tensors) != 1 || f.Tensors[0].DType != c.dtype {
			t.Errorf("%s: %+v, %v", name, f, err)
			continue
		}
		data, err := io.ReadAll(f.Open(f.Tensors[0]))
		if err != nil {
			data = []byte(err.Error())
		}
		testkit.Is(t, string(data), c.want, name)
	}
}

func TestHostileFiles(t *testing.T) {
	data := map[string]string{"0": "1234567812345678"}
	good := archive(t, pickleOf("FloatStorage", "0", twoByTwo), data)
	testkit.None(t, testkit.Err(Open(bytes.NewReader(good), int64(len(good)))))
	for _, c := range map[string]struct {
		pickle string
		want   string
	}{
		"runs a command":       {"\x80\x02cos\nsystem\n" + text("true") + "\x85R.", `names "os system"`},
		"runs code":            {"\x80\x04" + "\x8c\x08builtins\x8c\x04exec\x93" + text("1") + "\x85R.", `names "builtins exec"`},
		"builds an object":     {"\x80\x02cdatetime\ndate\n)\x81.", "names"},
		"old instance":         {"(ios\nsystem\n.", "opcode"},
		"extension registry":   {"\x80\x02\x82\x01.", "opcode 0x82"},
		"calls a storage type": {"\x80\x02ctorch\nFloatStorage\n)R.", "calls"},
		"no dictionary":        {"\x80\x02K\x01.", "not a dictionary"},
		"not a tensor":         {"\x80\x02}" + text("a") + "K\x01s.", "not a tensor"},
		"unfinished":           {"\x80\x02}", "ends early"},
		"empty stack":          {"\x80\x02s.", "stack is empty"},
		"no mark":              {"\x80\x02u.", "no mark"},
		"unknown memo":         {"\x80\x02h\x07.", "never set"},
		"huge string":          {"\x80\x02X\xff\xff\xff\xff.", "string of"},
		"no such storage":      {pickleOf("FloatStorage", "1", twoByTwo), "outside of storage"},
		"too large":            {pickleOf("FloatStorage", "0", "K\x01K\x02K\x02\x86K\x02K\x01\x86\x89N"), "outside of storage"},
		"overflow":             {pickleOf("FloatStorage", "0", "K\x00J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86K\x02K\x01\x86\x89N"), "shape"},
		"negative":             {pickleOf("FloatStorage", "0", "K\x00J\xff\xff\xff\xff\x85K\x01\x85\x89N"), "shape"},
		"transposed too far":   {pickleOf("FloatStorage", "0", "K\x00K\x02K\x02\x86K\x01K\x03\x86\x89N"), "outside of storage"},
		"backwards":            {pickleOf("FloatStorage", "0", "K\x03K\x02\x85J\xff\xff\xff\xff\x85\x89N"), "outside of storage"},
		"one number for all":   {pickleOf("FloatStorage", "0", "K\x00K\x05\x85K\x00\x85\x89N"), "outside of storage"},
		"strides overflow":     {pickleOf("FloatStorage", "0", "K\x00K\x02K\x02\x86\x8a\x08"+strings.Repeat("\xff", 7)+"\x7fK\x01\x86\x89N"), "outside of storage"},
		"calls a word":         {"\x80\x02ctorch\nload\n" + text("a") + "\x85R.", "calls"},
		"another module":       {"\x80\x02ctorch.hub\nload\n.", "names"},
		"view of a storage":    {strings.Replace(pickleOf("FloatStorage", "0", twoByTwo), "K\x04tQ", "K\x04K\x00tQ", 1), "a view of another storage"},
		"no view":              {strings.Replace(pickleOf("FloatStorage", "1", twoByTwo), "K\x04tQ", "K\x04NtQ", 1), "outside of storage"},
		"protocol":             {"\x80\x09}.", "protocol 9"},
		"long name":            {"\x80\x02c" + strings.Repeat("a", 10000), "name without an end"},
	} {
		file := archive(t, c.pickle, data)
		testkit.ErrSays(t, testkit.Err(Open(bytes.NewReader(file), int64(len(file)))), c.want)
	}
	bomb := archiveBy(t, zip.Deflate, "\x80\x02"+strings.Repeat("}", 1<<20), nil)
	testkit.ErrSays(t, testkit.Err(Open(bytes.NewReader(bomb), int64(len(bomb)))), "is compressed")
	for name, file := range map[string][]byte{"empty": nil, "text": []byte("hello, world"), "other zip": archive(t, "", nil)[:40]} {
		testkit.Some(t, testkit.Err(Open(bytes.NewReader(file), int64(len(file)))), name)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(testkit.Value(os.ReadFile("../../t5/testdata/v1_0/pytorch_model_legacy.bin"))(f)[:3000])
	f.Add(archive(f, pickleOf("FloatStorage", "0", twoByTwo), map[string]string{"0": "1234567812345678"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, info := range file.Tensors {
			if n, err := io.Copy(io.Discard, file.Open(info)); (err == nil) != (info.width > 0) || n != info.bytes {
				t.Errorf("%+v: %d bytes, %v", info, n, err)
			}
		}
	})
}

// FuzzUnpickle gives the machine bytes without a zip file's checksums around them.
func FuzzUnpickle(f *testing.F) {
	f.Add([]byte(pickleOf("FloatStorage", "0", twoByTwo)))
	f.Fuzz(func(t *testing.T, pickle []byte) {
		file := archive(t, string(pickle), map[string]string{"0": "1234567812345678"})
		if _, err := Open(bytes.NewReader(file), int64(len(file))); err != nil {
			return
		}
	})
}
