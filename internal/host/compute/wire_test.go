package compute

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestFrames: what is not a whole frame is told from an end, and from what was sent.
func TestFrames(t *testing.T) {
	var b bytes.Buffer
	w := &writer{w: &b}
	testkit.None(t, w.send(message{ID: 7, Said: []byte("\xff")}))
	frame := b.String()
	if m, err := receive(strings.NewReader(frame)); err != nil || m.ID != 7 || string(m.Said) != "\xff" {
		t.Error(m, err)
	}
	for text, want := range map[string]error{
		"": io.EOF, frame[:7]: io.ErrUnexpectedEOF, frame[:len(frame)-1]: io.ErrUnexpectedEOF, "x" + frame: errGarbage,
		frame[:len(frame)-1] + "]": errGarbage, magic + "\xff\xff\xff\xff0000": errGarbage, magic + "\x00\x00\x00\x00\x00\x00\x00\x00": errGarbage,
	} {
		testkit.ErrIs(t, testkit.Err(receive(strings.NewReader(text))), want, text)
	}
	last := &tail{}
	for range 400 {
		_, _ = last.Write(bytes.Repeat([]byte("before\n"), 200))
	}
	_, _ = last.Write([]byte("terminate called\nfatal error: unexpected signal during runtime execution\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x0]\n" + strings.Repeat("\tgoroutine\n", 5000)))
	if words, signal := last.words(true); signal != "segmentation violation" || !strings.Contains(words, "terminate called\nfatal error") || len(words) > wordsBytes || len(last.text) > 2*tailBytes {
		t.Errorf("%q, %q", signal, words)
	}
	if words, signal := last.words(false); signal != "" || !strings.HasSuffix(words, "goroutine") || len(words) > wordsBytes {
		t.Errorf("%q, %q", signal, words)
	}
}
