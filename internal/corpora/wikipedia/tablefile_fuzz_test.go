package wikipedia

import (
	"bytes"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// FuzzReadTable reads tables of revisions in both forms: a table that was read and written reads the same.
func FuzzReadTable(f *testing.F) {
	for _, s := range []string{
		"{\"oldid\":1,\"page_id\":2,\"title\":\"A\"}\n{\"oldid\":3,\"page_id\":2,\"ns\":0,\"redirect\":true,\"target\":\"B\"}\n",
		"oldid,page_id,title,ns,redirect,target\n1,2,A,0,false,\n3,4,\"B, C\",1,true,A\n",
		"\xef\xbb\xbfpage_id,oldid\n7,8\n", "", "{", "oldid\n", "{\"oldid\":0,\"page_id\":1}\n", "\x1f\x8b\x08\x00", "BZh9", "\x28\xb5\x2f\xfd",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := ReadTable(bytes.NewReader(b), "t")
		if err != nil {
			return
		}
		var out, again bytes.Buffer
		testkit.None(t, WriteTable(&out, table))
		if out.Len() == 0 {
			return // only a header
		}
		written := bytes.Clone(out.Bytes())
		back, err := ReadTable(&out, "t")
		testkit.None(t, err, "read but not read again", written)
		if err := WriteTable(&again, back); err != nil || !bytes.Equal(again.Bytes(), written) {
			t.Fatalf("written as %s, then as %s, %v", written, again.Bytes(), err)
		}
	})
}
