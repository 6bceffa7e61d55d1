package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system/signature"
)

// A result record ends with a seal: its last member is the digest of all bytes
// before it. Blobs prove themselves by their names; a record's name is its
// key, so without the seal a flipped bit in a record could be served.
//
//	{"format":"redsi.result/1", … ,"seal":"sha256:…"}
const (
	sealOpen  = `,"seal":"`
	sealClose = `"}`
)

func encodeResult(r Result) ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", r.Key, err)
	}
	return sealed(b), nil
}

// sealed adds the seal to a JSON object.
func sealed(b []byte) []byte {
	body := b[:len(b)-1] // without the final brace
	return fmt.Appendf(body, "%s%s%s", sealOpen, Sum(body), sealClose)
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has format %q, this redsi reads %q: use the redsi that wrote it, or newer", e.Name, e.Format, e.Reads)
}

// decodeResult reads the record of key. Any change to the record's bytes since
// encodeResult is an error, and so is what no step could have left: the seal proves
// that a record is whole, not that its writer is honest.
func decodeResult(key Digest, b []byte) (*Result, error) {
	r, err := decodeSealed(key, b)
	if err != nil {
		return nil, err
	}
	if r.Key != key {
		return nil, fmt.Errorf("%s holds the result of another key, %s", ResultName(key), r.Key)
	}
	r.Preimage = canonical(r.Preimage)
	if err := r.validate(); err != nil {
		if f := formatOf(r.Preimage); f != KeyFormat && strings.HasPrefix(f, keyFormats) {
			return nil, &FormatError{ResultName(key), f, KeyFormat}
		}
		return nil, fmt.Errorf("%s: %w", ResultName(key), err)
	}
	return r, nil
}

// decodeSealed reads a record whose seal is right, whatever it says. One in another format is
// a *FormatError, whether or not its members are those of a result.
func decodeSealed(key Digest, b []byte) (*Result, error) {
	if _, err := unseal(b); err != nil {
		return nil, fmt.Errorf("%s: %w", ResultName(key), err)
	}
	r := &Result{}
	err := r.UnmarshalJSON(b)
	format := r.Format
	if err != nil {
		format = formatOf(b)
	}
	if format != ResultFormat && json.Valid(b) {
		return nil, &FormatError{ResultName(key), format, ResultFormat}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ResultName(key), err)
	}
	return r, nil
}

// formatOf is the format that a document says it has; "" if it says none.
func formatOf(doc []byte) string {
	var head struct {
		Format string `json:"format"`
	}
	_ = json.Unmarshal(doc, &head) // of what is no document its reader tells
	return head.Format
}

func unseal(b []byte) ([]byte, error) {
	tail := len(sealOpen) + len(Digest{}.String()) + len(sealClose)
	if len(b) < tail {
		return nil, fmt.Errorf("the record has no seal")
	}
	body, seal := b[:len(b)-tail], b[len(b)-tail:]
	digest, ok := bytes.CutPrefix(seal, []byte(sealOpen))
	if !ok {
		return nil, fmt.Errorf("the record has no seal")
	}
	want, err := ParseDigest(string(bytes.TrimSuffix(digest, []byte(sealClose))))
	if err != nil {
		return nil, fmt.Errorf("the record's seal is damaged: %w", err)
	}
	if got := Sum(body); got != want {
		return nil, fmt.Errorf("the record was changed after it was written (%s, sealed %s)", got, want)
	}
	return body, nil
}

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

// signatureFormat is the form of the record "signatures/<hex key>/<key id>", which says that
// the holder of a key stands for the record of a result as it is, to its last byte:
//
//	{"format":"redsi-signature/1","record":"results/<hex key>","digest":"sha256:…","signed":"…","signer":"NAME:…","signature":"…"}
const signatureFormat = "redsi-signature/1"

// signaturePrefix is what the names of the signatures of a result begin with.
func signaturePrefix(key Digest) string { return SignaturesPrefix + key.Hex() + "/" }

// SignatureName is the name of the record with the signature of a result by a key.
func SignatureName(key Digest, by signature.Public) string { return signaturePrefix(key) + by.ID() }

// statement is what is signed.
type statement struct {
	Format string    `json:"format"`
	Record string    `json:"record"`
	Digest Digest    `json:"digest"` // of the record's bytes
	Signed time.Time `json:"signed"`
}

// sign makes the signature of a record of a result.
func sign(key Digest, record []byte, by *signature.Private) ([]byte, error) {
	b, err := json.Marshal(statement{signatureFormat, ResultName(key), Sum(record), time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return nil, err
	}
	return by.Sign(b)
}

// errOfAnother says that a signature is right and is not that of the record.
var errOfAnother = errors.New("the signature is for a different version of this record: the record was changed, or the signature was copied from elsewhere")

// signerOf returns who signed a record of a result by the document under name. by is
// known with an errOfAnother, too.
func signerOf(key Digest, record []byte, name string, doc []byte) (by signature.Public, err error) {
	if by, err = signature.Signer(doc); err != nil {
		return signature.Public{}, err
	}
	var s statement
	if err := json.Unmarshal(doc, &s); err != nil {
		return signature.Public{}, err
	}
	switch {
	case by.IsZero():
		return by, errors.New("it is not signed")
	case s.Format != signatureFormat:
		return signature.Public{}, fmt.Errorf("format %.80q is not %q", s.Format, signatureFormat)
	case SignatureName(key, by) != name, s.Record != ResultName(key), s.Digest != Sum(record):
		return by, errOfAnother
	}
	return by, nil
}

// SignResult signs the record of a result that s has. Without one it is ErrNotExist.
// What the key has signed already is left as it is; done says that it was not.
func SignResult(ctx context.Context, s Store, key Digest, by *signature.Private) (done bool, err error) {
	record, err := s.Records.Get(ctx, ResultName(key))
	if err != nil {
		return false, err
	}
	if _, damage, err := readRecord(ctx, s.Blobs, key, record); err != nil || damage != nil {
		return false, fmt.Errorf("sign the result of %s: %w", key, errors.Join(damage, err))
	}
	name := SignatureName(key, by.Public())
	doc, err := s.Records.Get(ctx, name)
	if err == nil {
		if _, err := signerOf(key, record, name, doc); err == nil {
			return false, nil
		}
	} else if !errors.Is(err, ErrNotExist) {
		return false, err
	}
	if doc, err = sign(key, record, by); err == nil {
		err = s.Records.Put(ctx, name, doc)
	}
	if err != nil {
		return false, fmt.Errorf("sign the result of %s: %w", key, err)
	}
	return true, nil
}

// Signed is a signature of a result.
type Signed struct {
	By  signature.Public // zero if the document does not even say so truly
	Err error            // why it counts for nothing: it is damaged, or of another record
}

// Signatures lists who signed the result that is under key, in no set order of
// people. Whether they are trusted is for a signature.Ring to say.
func Signatures(ctx context.Context, records RecordReader, key Digest) ([]Signed, error) {
	record, err := records.Get(ctx, ResultName(key))
	if err != nil {
		return nil, err
	}
	var all []Signed
	for doc, err := range DocumentsIn(ctx, records, signaturePrefix(key)) {
		if err != nil {
			return nil, err
		}
		by, err := signerOf(key, record, doc.Name, doc.Text)
		all = append(all, Signed{by, err})
	}
	return all, nil
}

// dropStale deletes the signatures of a result whose record was replaced by this one.
func dropStale(ctx context.Context, s Store, key Digest, record []byte) error {
	for doc, err := range DocumentsIn(ctx, s.Records, signaturePrefix(key)) {
		if err != nil {
			return err
		}
		if _, err := signerOf(key, record, doc.Name, doc.Text); err == nil {
			continue
		}
		if err := s.Records.Delete(ctx, doc.Name); err != nil {
			return err
		}
	}
	return nil
}

// DropResult deletes the result of key in s, and first its signatures, which are of
// no other. One that is not there is no error.
func DropResult(ctx context.Context, s Store, key Digest) error {
	names, err := RecordNames(ctx, s.Records, signaturePrefix(key))
	for _, name := range names {
		if err == nil {
			err = s.Records.Delete(ctx, name)
		}
	}
	if err != nil {
		return fmt.Errorf("delete the signatures of %s: %w", key, err)
	}
	return s.Records.Delete(ctx, ResultName(key))
}
