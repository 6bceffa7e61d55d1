package docid

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestCodec(t *testing.T) {
	s := &Set{Kind: KindNaive, Identifiers: []Identifier{
		{"p:41312390", "141913", []int32{968, 2294, 2368, 1}},
		{"t:tab\there \\t and\nline\r", "0", []int32{3, 632, 1}},
		{"Beyoncé – „x“", "18510", []int32{507, 25926, 1}},
		{"", "7", []int32{0}},
	}}
	var b bytes.Buffer
	testkit.None(t, s.Write(&b))
	want := "redsi-docid\t1\tnaive\t4\n" +
		"p:41312390\t141913\t968 2294 2368 1\n" +
		`t:tab\there \\t and\nline\r` + "\t0\t3 632 1\n" +
		"Beyoncé – „x“\t18510\t507 25926 1\n" +
		"\t7\t0\n"
	testkit.Is(t, b.String(), want, "wrote")
	got, err := Read(&b)
	testkit.That(t, err == nil && reflect.DeepEqual(got, s), "read", got, err)
	b.Reset()
	empty := &Set{Kind: KindAtomic}
	testkit.None(t, empty.Write(&b))
	if got, err := Read(&b); err != nil || !reflect.DeepEqual(got, empty) {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestCodecErrors(t *testing.T) {
	const head = "redsi-docid\t1\tnaive\t"
	for in, want := range map[string]string{
		"":                                        "no header line: unexpected EOF",
		"document\tid\n":                          "line 1: \"document\\tid\", want",
		"redsi-docid\t2\tnaive\t0\n":              `version "2"`,
		"redsi-docid\t1\tunheard\t0\n":            `unknown kind "unheard"`,
		head + "-1\n":                             `count "-1"`,
		head + "2\na\t1\t5 1\n":                   "1 lines, the header says 2; the file was cut or edited",
		head + "1\na\t1\n":                        "line 2: 2 fields",
		head + "1\na\t1\t5 6":                     "line 2: unexpected EOF", // of 5 67
		head + "1\na\t1\t5 x\n":                   `line 2: token "x" is not a token id`,
		head + "1\na\t1\t-5\n":                    `token "-5" is not a token id`,
		head + "1\na\t1\t05\n":                    `token "05" is not a token id`,
		head + "1\na\t1\t\n":                      `token "" is not a token id`,
		head + "1\na\t1\t9999999999\n":            "is not a token id",
		head + "2\na\t1\t5\nb\t1\t6\n":            `documents "a" and "b" both have "1"`,
		head + "1\n" + strings.Repeat("x", 2<<20): "line 2",
	} {
		testkit.ErrSays(t, testkit.Err(Read(strings.NewReader(in))), want)
	}
	for _, s := range []*Set{
		{Kind: "unheard"},
		{Kind: KindNaive, Identifiers: []Identifier{{"a", "1", nil}}},
		{Kind: KindNaive, Identifiers: []Identifier{{strings.Repeat("x", 2<<20), "1", []int32{1}}}},
	} {
		testkit.Some(t, s.Write(&bytes.Buffer{}), s)
	}
	s := &Set{Kind: KindNaive, Identifiers: []Identifier{{"a", "1", []int32{1}}}}
	testkit.ErrIs(t, s.Write(brokenWriter{}), os.ErrClosed, "a broken writer")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func FuzzRead(f *testing.F) {
	f.Add("redsi-docid\t1\tnaive\t1\na\\tb\t1\t5 1\n")
	f.Add("redsi-docid\t1\tatomic\t0\n")
	f.Add("redsi-docid\t1\tnaive\t2\n\\\\\t1\t5 1\n\\\t2\t0\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		s, err := Read(strings.NewReader(in))
		if err != nil {
			return
		}
		var b bytes.Buffer
		testkit.None(t, s.Write(&b), "read but not written")
		again, err := Read(&b)
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%q: read %+v, then %+v, %v", in, s, again, err)
		}
	})
}
