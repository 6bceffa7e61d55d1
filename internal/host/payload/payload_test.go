package payload

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/redsi/redsi/internal/system/testkit"
)

var (
	oldKey = strings.Repeat("0f", 32)
	newOne = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
)

func codec(t *testing.T, lines ...string) Codec {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	testkit.None(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	c, err := Load(file)
	testkit.None(t, err)
	return c
}

func plain(text string) *common.Payload {
	return &common.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte("json/plain"), "messageType": []byte("x")}, Data: []byte(text)}
}

func sealedBy(t *testing.T, c Codec, p *common.Payload) *common.Payload {
	t.Helper()
	before := proto.Clone(p)
	out, err := c.Encode([]*common.Payload{p})
	if err != nil || len(out) != 1 {
		t.Fatal(out, err)
	}
	if !proto.Equal(before, p) {
		t.Error("Encode changed its argument")
	}
	return out[0]
}

func TestCodec(t *testing.T) {
	before, rotated, after := codec(t, oldKey), codec(t, "# new one first", newOne, "", oldKey), codec(t, newOne)
	id := before.IDs()[0]
	for _, c := range []struct {
		name     string
		seal     Codec
		edit     func(*common.Payload)
		open     Codec
		mistakes []string
	}{
		{name: "round trip", seal: before, open: before},
		{name: "an older key", seal: before, open: rotated},
		{name: "the first key encrypts", seal: rotated, open: after},
		{name: "no keys at all", seal: Codec{}, open: Codec{}},
		{name: "old plain payload", seal: Codec{}, open: rotated},
		{name: "another key", seal: before, open: after, mistakes: []string{id, "lacks", after.IDs()[0], "--payload-key", "REDSI_PAYLOAD_KEY"}},
		{name: "no key", seal: before, open: Codec{}, mistakes: []string{id, "given none", "--payload-key"}},
		{name: "flipped byte", seal: before, open: before, mistakes: []string{"does not match what was encrypted", id},
			edit: func(p *common.Payload) { p.Data[len(p.Data)/2] ^= 1 }},
		{name: "flipped nonce", seal: before, open: before, mistakes: []string{"does not match what was encrypted", id},
			edit: func(p *common.Payload) { p.Data[0] ^= 1 }},
		{name: "cut", seal: before, open: before, mistakes: []string{"does not match what was encrypted"},
			edit: func(p *common.Payload) { p.Data = p.Data[:5] }},
		{name: "empty", seal: before, open: before, mistakes: []string{"does not match what was encrypted"},
			edit: func(p *common.Payload) { p.Data = nil }},
		{name: "added metadata", seal: before, open: before, mistakes: []string{"does not match what was encrypted"},
			edit: func(p *common.Payload) { p.Metadata["messageType"] = []byte("y") }},
		{name: "swapped key id", seal: before, open: rotated, mistakes: []string{"does not match what was encrypted", after.IDs()[0]},
			edit: func(p *common.Payload) { p.Metadata[KeyID] = []byte(after.IDs()[0]) }},
		{name: "hostile key id", seal: before, open: before, mistakes: []string{`\n`, "--payload-key"},
			edit: func(p *common.Payload) { p.Metadata[KeyID] = []byte("\n" + strings.Repeat("x", 1000)) }},
		{name: "of another program", seal: before, open: before, mistakes: []string{"not by redsi"},
			edit: func(p *common.Payload) { delete(p.Metadata, KeyID) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := plain(`{"text":"planted"}`)
			p := sealedBy(t, c.seal, want)
			raw, err := proto.Marshal(p)
			testkit.None(t, err)
			if hidden := !bytes.Contains(raw, []byte("planted")) && !bytes.Contains(raw, []byte("messageType")); hidden != (len(c.seal.keys) > 0) {
				t.Errorf("hidden: %v: %q", hidden, raw)
			}
			if c.edit != nil {
				c.edit(p)
			}
			got, err := c.open.Decode([]*common.Payload{p})
			if c.mistakes == nil {
				if err != nil || !proto.Equal(got[0], want) {
					t.Fatalf("got %v, %v", got, err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) || len(err.Error()) > 400 {
				t.Fatalf("got %v, %v; want an Error of one line", got, err)
			}
			testkit.ErrSays(t, err, c.mistakes...)
		})
	}
	if bytes.Equal(sealedBy(t, before, plain("x")).Data, sealedBy(t, before, plain("x")).Data) {
		t.Error("two payloads of one text have one nonce")
	}
}

// TestFailures: what a failure says is hidden, and read with the key alone.
func TestFailures(t *testing.T) {
	c, other := codec(t, oldKey), codec(t, newOne)
	err := temporal.NewNonRetryableApplicationError("planted", "Kind", errors.New("planted cause"), "planted detail")
	f := c.FailureConverter().ErrorToFailure(err)
	if raw, merr := proto.Marshal(f); merr != nil || bytes.Contains(raw, []byte("planted")) {
		t.Errorf("%v: a failure shows what it says: %q", merr, raw)
	}
	var app *temporal.ApplicationError
	var detail string
	if back := c.FailureConverter().FailureToError(f); !errors.As(back, &app) || app.Message() != "planted" || app.Details(&detail) != nil || detail != "planted detail" {
		t.Errorf("got %v, detail %q", back, detail)
	}
	testkit.Is(t, c.Message(f), "planted", "Message")
	for _, no := range []Codec{other, {}} {
		if back := no.FailureConverter().FailureToError(f); !strings.Contains(back.Error(), "encrypted with key \""+c.IDs()[0]) {
			t.Errorf("got %v", back)
		}
		testkit.Says(t, no.Message(f), "--payload-key")
	}
	plain := Codec{}.FailureConverter().ErrorToFailure(err)
	testkit.Is(t, plain.Message, "planted", "without a key")
	testkit.Is(t, c.Message(plain), "planted", "without a key")

	_, kerr := other.Decode([]*common.Payload{sealedBy(t, c, codecPlain)})
	f = Codec{}.FailureConverter().ErrorToFailure(fmt.Errorf("unable to decode the input: %w", kerr))
	if i := f.GetApplicationFailureInfo(); !i.GetNonRetryable() || i.GetType() != ErrorType || f.Message != kerr.Error() {
		t.Errorf("got %v", f)
	}
}

var codecPlain = plain("x")

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		mistakes   []string
	}{
		{"hex.key", oldKey + "\n", 0o600, nil},
		{"base64.key", "\r\n" + newOne + "\r\n# comment\n", 0o400, nil},
		{"open.key", oldKey, 0o644, []string{"mode 0644", "chmod 600"}},
		{"group.key", oldKey, 0o620, []string{"mode 0620", "chmod 600"}},
		{"empty.key", "# none\n\n", 0o600, []string{"no key", "openssl"}},
		{"short.key", oldKey + "\n" + oldKey[2:], 0o600, []string{"short.key:2:", "64 hex digits"}},
		{"twice.key", oldKey + "\n" + strings.ToUpper(oldKey), 0o600, []string{"twice.key:2:", "twice"}},
		{"long.key", strings.Repeat("#\n", maxFile), 0o600, []string{"not a key file"}},
	} {
		file := filepath.Join(dir, c.name)
		testkit.None(t, os.WriteFile(file, []byte(c.text), 0o600))
		testkit.None(t, os.Chmod(file, c.mode))
		k, err := Load(file)
		if c.mistakes == nil {
			testkit.That(t, err == nil && len(k.IDs()) == 1 && len(k.IDs()[0]) == 8, c.name, k.IDs(), err)
			continue
		}
		testkit.ErrSays(t, err, c.mistakes...)
		if strings.Contains(fmt.Sprint(err), oldKey[:20]) {
			t.Errorf("%s: the error quotes the key: %v", c.name, err)
		}
	}
	testkit.ErrSays(t, testkit.Err(Load(dir)), "regular")
	testkit.ErrIs(t, testkit.Err(Load(filepath.Join(dir, "none"))), os.ErrNotExist, "no file")
	if c, err := Load(""); err != nil || len(c.IDs()) != 0 {
		t.Errorf("no name: %v, %v", c, err)
	}
}
