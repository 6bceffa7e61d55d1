package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/redsi/redsi/internal/system/readers"
)

// DropCorrupt reads d and deletes it if its bytes are wrong, which turns every
// result that names it into a miss, so that its producer runs again. It is what
// to call after an IntegrityError. A blob whose bytes are changed on the way stays.
func DropCorrupt(ctx context.Context, s Store, d Digest) (dropped bool, err error) {
	switch bad, err := corruptThere(ctx, s.Blobs, d, nil); {
	case errors.Is(err, ErrNotExist), err == nil && bad == nil, is[*changedError](err):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := s.Blobs.Delete(ctx, d); err != nil {
		return false, fmt.Errorf("delete corrupt blob %s: %w", d, err)
	}
	return true, nil
}

// changedError says that the bytes of a blob were wrong in different ways.
type changedError struct{ *IntegrityError }

func (e *changedError) Error() string {
	return e.IntegrityError.Error() + "; another reading gave other bytes, so they are changed on the way: check the network and the machine's memory"
}

// certainty is in how many bits readings must agree before bytes are wrong in the store and not on the way.
const certainty = 32

// corruptThere reads d until it is certain whether its bytes are wrong in the store, which one right reading denies: it
// reads a blob of two bytes, in which the same bit may be changed twice by chance, nine times, and a large one twice.
func corruptThere(ctx context.Context, blobs BlobReader, d Digest, read func(n int64)) (bad *IntegrityError, err error) {
	for agreed := 0.0; agreed < certainty; {
		err := readThrough(ctx, blobs, d, read)
		read = nil // each byte is told once
		now, is := errors.AsType[*IntegrityError](err)
		switch {
		case !is:
			return nil, err
		case bad != nil && (now.Got != bad.Got || now.Size != bad.Size):
			return nil, &changedError{now}
		case bad != nil:
			agreed += math.Log2(float64(8*now.Size + 2))
		}
		bad = now
	}
	return bad, nil
}

func readThrough(ctx context.Context, blobs BlobReader, d Digest, read func(n int64)) error {
	rc, err := blobs.Open(ctx, d)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, readers.Pieces(rc, read))
	return errors.Join(err, rc.Close())
}
