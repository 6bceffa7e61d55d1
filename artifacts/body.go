package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// longResultFormat is the form of the record of a result that is too long for one,
// such as that of a tree of ten thousand files, or of a step with as many inputs:
// it names a blob with the whole sealed record, in ResultFormat.
//
//	{"format":"redsi.result/2","key":"sha256:…","body":"sha256:…","seal":"sha256:…"}
const longResultFormat = "redsi.result/2"

// longResult is how long a record may be to stand by itself.
const longResult = MaxRecord / 2

type longRecord struct {
	Format string `json:"format"`
	Key    Digest `json:"key"`
	Body   Digest `json:"body"`
}

// recordOf makes the record of r, storing its body first where that is long.
func recordOf(ctx context.Context, blobs Blobs, r Result) ([]byte, error) {
	b, err := encodeResult(r)
	if err != nil || len(b) <= longResult {
		return b, err
	}
	d, err := PutBytes(ctx, blobs, b)
	if err != nil {
		return nil, fmt.Errorf("store the body of result %s: %w", r.Key, err)
	}
	head, err := json.Marshal(longRecord{longResultFormat, r.Key, d})
	if err != nil {
		return nil, err
	}
	return sealed(head), nil
}

// readRecord reads what recordOf made. Damage says why the result cannot be read
// however often it is tried; err, that the store could not answer.
func readRecord(ctx context.Context, blobs BlobReader, key Digest, b []byte) (r *Result, damage, err error) {
	return readRecordBy(key, b, func(d Digest) ([]byte, error) { return ReadBlob(ctx, blobs, d, AnySize) })
}

// readRecordBy is readRecord with a function that reads the body of a long one.
func readRecordBy(key Digest, b []byte, bodyOf func(Digest) ([]byte, error)) (r *Result, damage, err error) {
	r, damage = decodeResult(key, b)
	format, other := errors.AsType[*FormatError](damage)
	var head longRecord
	if !other || format.Format != longResultFormat || json.Unmarshal(b, &head) != nil {
		return r, damage, nil
	}
	if head.Key != key {
		return nil, fmt.Errorf("%s holds the result of another key, %s", ResultName(key), head.Key), nil
	}
	body, err := bodyOf(head.Body)
	if IsLost(err) {
		return nil, fmt.Errorf("%s: its body: %w", ResultName(key), err), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look up %s: %w", key, err)
	}
	if r, damage = decodeResult(key, body); damage == nil {
		r.body = head.Body
	}
	return r, damage, nil
}
