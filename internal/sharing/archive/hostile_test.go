package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestTwoEnds: of two ends that contradict each other the one is measured that package zip reads.
func TestTwoEnds(t *testing.T) {
	for name, c := range map[string]struct {
		length uint32 // of the table of contents, as the old end says; the new one says 0
		want   bool   // it is refused
	}{
		"the old one counts": {1 << 20, true},
		"the new one counts": {1<<32 - 1, false},
	} {
		b := binary.LittleEndian.AppendUint32(nil, 0x06064b50)
		b = append(b, make([]byte, end64Length-4)...)
		b = binary.LittleEndian.AppendUint32(b, 0x07064b50)
		b = append(b, make([]byte, locator64-4)...)
		b = binary.LittleEndian.AppendUint32(b, 0x06054b50)
		b = append(b, make([]byte, 8)...)
		b = binary.LittleEndian.AppendUint32(b, c.length)
		b = append(b, make([]byte, 6)...)
		if err := directory(bytes.NewReader(b), int64(len(b)), Usual(int64(len(b)))); (err != nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamage: a byte that changed anywhere is told before anything counts.
func TestDamage(t *testing.T) {
	whole := packed(t, nil, []byte("some text that is not short"))
	take := func(b []byte) error {
		_, _, err := taken(t, b)
		return err
	}
	testkit.None(t, take(whole))
	for _, text := range []string{"some text that", "# a pipeline", `"seal"`, "redsi-archive/1"} {
		at := bytes.Index(whole, []byte(text))
		if at < 0 { // it is compressed: any byte of the manifest will do
			continue
		}
		b := bytes.Clone(whole)
		b[at] ^= 1
		testkit.Some(t, take(b), text)
	}
	for n := 0; n < len(whole); n += 97 {
		testkit.Some(t, take(whole[:n]), n, len(whole))
	}
}

// hostile is one entry that no archive has, and what is said of it.
var hostile = []struct {
	name string
	want string
	head func(h *zip.FileHeader)
}{
	{"../outside", "not a clean relative path", nil},
	{"project/../../outside", "not a clean relative path", nil},
	{"/etc/passwd", "not a clean relative path", nil},
	{"C:/x", "another file on Windows", nil},
	{`project\x`, "backslash", nil},
	{"project/a:b/../x", "not a clean relative path", nil},
	{"project/con.txt", "another file on Windows", nil},
	{"project/dot.", "another file on Windows", nil},
	{"project/new\nline", "control character", nil},
	{"project/.git/config", "have a folder .git", nil},
	{"project/.GIT/hooks/post-checkout", "have a folder .GIT", nil},
	{"project/sub/.redsi/store/x", "have a folder .redsi", nil},
	{"project/redsi.local.hcl", "personal settings", nil},
	{"project/Redsi.Local.hcl", "personal settings", nil},
	{"project/PIPELINES.hcl", "same file if case is ignored", nil},
	{"project/assets/a\u0308.txt", "same file if case is ignored", nil},
	{"project/pipelines.hcl/x", "is a file, not a folder", nil},
	{"project/pipelines.hcl", "same file", nil},
	{"project/link", "symbolic link", func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }},
	{"project/device", "device", func(h *zip.FileHeader) { h.SetMode(fs.ModeDevice | 0o666) }},
	{"project/pipe", "pipe", func(h *zip.FileHeader) { h.SetMode(fs.ModeNamedPipe | 0o666) }},
	{"project/secret", "encrypted", func(h *zip.FileHeader) { h.Flags |= 1 }},
	{"project/more", "manifest says 2", nil},
	{"store/blobs/xx/yy", "not the path of a blob", nil},
	{"store/blobs/00/" + strings.Repeat("0", 62), "its manifest says", nil},
	{"store/records/runs/x.json", "not have such a record", nil},
	{"store/records/pins/x.json", "not have such a record", nil},
	{"store/records/results/x.json", "its manifest says", nil},
	{"store/records/../results/x.json", "not a clean relative path", nil},
}

// rewrite copies an archive and adds to it.
func rewrite(t *testing.T, b []byte, add func(z *zip.Writer)) []byte {
	t.Helper()
	from, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	testkit.None(t, err)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range from.File {
		testkit.None(t, z.Copy(f))
	}
	add(z)
	testkit.None(t, z.Close())
	return out.Bytes()
}

// raw adds an entry as it stands.
func raw(t *testing.T, z *zip.Writer, h *zip.FileHeader, data []byte) {
	t.Helper()
	w, err := z.CreateRaw(h)
	testkit.None(t, err)
	testkit.None(t, testkit.Err(w.Write(data)))
}

func TestHostileEntries(t *testing.T) {
	whole := packed(t, nil, []byte("text"))
	for _, c := range hostile {
		b := rewrite(t, whole, func(z *zip.Writer) {
			h := &zip.FileHeader{Name: c.name, Method: zip.Store, CompressedSize64: 1, UncompressedSize64: 1, CRC32: crc32.ChecksumIEEE([]byte("x"))}
			h.SetMode(0o644)
			if c.head != nil {
				c.head(h)
			}
			raw(t, z, h, []byte("x"))
		})
		testkit.ErrSays(t, testkit.Err(read(b)), c.want)
	}
}

// TestOtherFiles: what a person added to the archive is named, and nothing else comes of it.
func TestOtherFiles(t *testing.T) {
	a, err := read(rewrite(t, packed(t, nil, []byte("text")), func(z *zip.Writer) {
		testkit.None(t, testkit.Err(z.Create("notes/")))
		testkit.None(t, testkit.Err(z.Create("notes/mine.txt")))
	}))
	testkit.That(t, err == nil && len(a.Others) == 1 && a.Others[0] == "notes/mine.txt", a, err)
}

// TestBombs: sizes that cannot be, that are too large, and bytes that are counted twice.
func TestBombs(t *testing.T) {
	whole := packed(t, nil, []byte("text"))
	with := func(h zip.FileHeader, data []byte) []byte {
		return rewrite(t, whole, func(z *zip.Writer) { raw(t, z, &h, data) })
	}
	for _, c := range []struct {
		want string
		b    []byte
	}{
		{"cannot hold", with(zip.FileHeader{Name: "project/x", Method: zip.Deflate, CompressedSize64: 3, UncompressedSize64: 1 << 40}, []byte("abc"))},
		{"takes 3", with(zip.FileHeader{Name: "project/x", Method: zip.Store, CompressedSize64: 3, UncompressedSize64: 4}, []byte("abc"))},
		{"method 12", with(zip.FileHeader{Name: "project/x", Method: 12, CompressedSize64: 3, UncompressedSize64: 4}, []byte("abc"))},
		{"truncated", with(zip.FileHeader{Name: "project/x", Method: zip.Store, CompressedSize64: uint64(len(whole)), UncompressedSize64: uint64(len(whole))}, nil)},
	} {
		testkit.ErrSays(t, testkit.Err(read(c.b)), c.want)
	}
	small := Usual(int64(len(whole)))
	for want, change := range map[string]func(l *Limits){
		"--max-size":           func(l *Limits) { l.Size = 100 },
		"more than 3":          func(l *Limits) { l.Entries = 3 },
		"table of contents":    func(l *Limits) { l.Directory = 50 },
		"more than 1 files":    func(l *Limits) { l.Files = 1 },
		"at most 5 bytes":      func(l *Limits) { l.File = 5 },
		"it has 10000000 file": nil,
	} {
		l, b := small, whole
		if change == nil { // more files are claimed than there can be
			b = claim(whole, 10_000_000)
		} else {
			change(&l)
		}
		testkit.ErrSays(t, testkit.Err(NewReader(bytes.NewReader(b), int64(len(b)), l, "a.zip")), want)
	}
}

// TestRepeated: one blob that stands for many files of the project counts for each.
func TestRepeated(t *testing.T) {
	d, n := artifacts.Sum(random), int64(len(random))
	whole := packed(t, func(m *Manifest) {
		for _, name := range []string{"a", "b", "c", "d"} {
			m.Sources = append(m.Sources, artifacts.File{Name: name, Digest: d, Size: n})
		}
	}, random)
	l := Usual(int64(len(whole)))
	l.Size = 4 * n
	testkit.ErrSays(t, testkit.Err(NewReader(bytes.NewReader(whole), int64(len(whole)), l, "a.zip")), "--max-size")
	l.Size = 6 * n
	testkit.None(t, testkit.Err(NewReader(bytes.NewReader(whole), int64(len(whole)), l, "a.zip")))
}

// claim adds a zip64 end that claims so many files.
func claim(b []byte, files uint64) []byte {
	at := bytes.LastIndex(b, []byte("PK\x05\x06"))
	end := bytes.Clone(b[at:])
	var x [end64Length + locator64]byte
	copy(x[:], "PK\x06\x06")
	x[4] = end64Length - 12
	for i := range 8 {
		x[24+i], x[32+i] = byte(files>>(8*i)), byte(files>>(8*i))
		x[end64Length+8+i] = byte(uint64(at) >> (8 * i))
	}
	copy(x[40:44], end[12:16])
	copy(x[48:52], end[16:20])
	copy(x[end64Length:], "PK\x06\x07")
	x[end64Length+16] = 1
	for i := 8; i < 20; i++ {
		end[i] = 0xff
	}
	return append(append(bytes.Clone(b[:at]), x[:]...), end...)
}

// TestOverlap makes two entries of one file's bytes.
func TestOverlap(t *testing.T) {
	whole := rewrite(t, packed(t, nil, []byte("text")), func(z *zip.Writer) {
		for _, name := range []string{"project/x", "project/y"} {
			w, err := z.Create(name)
			if err == nil {
				_, err = io.WriteString(w, "the same bytes")
			}
			testkit.None(t, err)
		}
	})
	// The table of contents says where y begins: let it say where x does.
	x, y := bytes.LastIndex(whole, []byte("project/x")), bytes.LastIndex(whole, []byte("project/y"))
	copy(whole[y-4:y], whole[x-4:x])
	testkit.ErrSays(t, testkit.Err(read(whole)), "shares its bytes")
}

// TestManifests: what a manifest says is compared with what there is.
func TestManifests(t *testing.T) {
	d := artifacts.Sum([]byte("text"))
	source := func(f artifacts.File) func(*Manifest) {
		return func(m *Manifest) { m.Sources = []artifacts.File{f} }
	}
	for want, change := range map[string]func(m *Manifest){
		"more than":             func(m *Manifest) { m.Pipeline = strings.Repeat("x", 2000) },
		"not a clean":           func(m *Manifest) { m.Pipeline = "../pipelines.hcl" },
		"personal settings":     source(artifacts.File{Name: "redsi.local.hcl", Digest: d}),
		"not a clean relative":  source(artifacts.File{Name: "../x", Digest: d}),
		"twice":                 source(artifacts.File{Name: "Pipelines.hcl", Digest: d}),
		"not a folder":          source(artifacts.File{Name: "pipelines.hcl/x", Digest: d}),
		"lacks this file":       source(artifacts.File{Name: "x", Digest: artifacts.Digest{1}, Size: 4}),
		"leads to \"../x\"":     source(artifacts.File{Name: "x", Digest: d, Size: 4, Mode: "link", Link: "../x"}),
		"absolute path \"/etc":  source(artifacts.File{Name: "x", Digest: d, Size: 4, Mode: "link", Link: "/etc"}),
		"has 4 bytes, not 3":    source(artifacts.File{Name: "x", Digest: d, Size: 3}),
		"its manifest says 7":   func(m *Manifest) { m.Records.Count = 7 },
		"its manifest says 9":   func(m *Manifest) { m.Blobs = 9 },
		"do not match its mani": func(m *Manifest) { m.Records.Digest = d },
	} {
		a, err := read(packed(t, change, []byte("text")))
		if err == nil {
			err = a.Verify(t.Context())
		}
		testkit.ErrSays(t, err, want)
	}
}

// FuzzArchive opens what may be an archive and reads all of it: nothing is written outside,
// and nothing is taken that is not what a digest says.
func FuzzArchive(f *testing.F) {
	whole := packed(f, func(m *Manifest) { m.Variables = map[string]json.RawMessage{"x": json.RawMessage(`1`)} }, []byte("text"))
	f.Add(whole)
	f.Add(claim(whole, 3))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := Usual(int64(len(b)))
		l.Size = 1 << 20
		a, err := NewReader(bytes.NewReader(b), int64(len(b)), l, "a.zip")
		if err != nil {
			return
		}
		_ = a.Verify(t.Context())
		for name := range a.entries {
			d, err := artifacts.ParseHex(strings.ReplaceAll(strings.TrimPrefix(name, BlobsDir), "/", ""))
			if err != nil {
				continue
			}
			if got, err := artifacts.ReadBlob(t.Context(), a.Reader().Blobs, d, 1<<20); err == nil && artifacts.Sum(got) != d {
				t.Fatalf("%s has other bytes", d)
			}
		}
		outer := t.TempDir()
		inner := filepath.Join(outer, "inner")
		testkit.None(t, os.Mkdir(inner, 0o755))
		_ = a.WriteProject(t.Context(), inner, a.Reader().Blobs)
		if left, err := os.ReadDir(outer); err != nil || len(left) != 1 {
			t.Fatalf("something was written outside: %v, %v", left, err)
		}
	})
}
