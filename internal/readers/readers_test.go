package readers

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWithContext(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := WithContext(ctx, iotest.OneByteReader(strings.NewReader("abc")))
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel(enough)
	if b, err := io.ReadAll(r); len(b) != 0 || err != enough {
		t.Errorf("%q, %v", b, err)
	}
}

func TestCounted(t *testing.T) {
	var seen []int64
	b, err := io.ReadAll(Counted(iotest.OneByteReader(strings.NewReader("abc")), func(n int64) { seen = append(seen, n) }))
	if string(b) != "abc" || err != nil || !slices.Equal(seen, []int64{1, 2, 3, 3}) {
		t.Errorf("%q, %v, told %v", b, err, seen)
	}
}
