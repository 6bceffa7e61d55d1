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

// A result record ends with a seal: its last member is the digest of all bytes before it. A blob is
// proved by its name, but a record's name is its key, so that without the seal a flipped bit in a record
// could be served.
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

// decodeResult reads the record of key. Any change to the record's bytes since encodeResult is an error,
// and so is a result that no step can have left: the seal proves that a record is intact, not that its
// writer is honest.
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

// decodeSealed reads a record whose seal is right, whatever it says. A record in another format is a
// *FormatError, whatever its members.
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

// formatOf returns the format that a document names; "" if it names none.
func formatOf(doc []byte) string {
	var head struct {
		Format string `json:"format"`
	}
	_ = json.Unmarshal(doc, &head) // what is not JSON is for its reader to report
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

// longResultFormat is the form of the record of a result that is too long for a record, since it has a
// tree of ten thousand files, say, or as many inputs: it names a blob with the sealed record in
// ResultFormat.
//
//	{"format":"redsi.result/2","key":"sha256:…","body":"sha256:…","seal":"sha256:…"}
const longResultFormat = "redsi.result/2"

// longResult is the longest record, in bytes, that has no body.
const longResult = MaxRecord / 2

type longRecord struct {
	Format string `json:"format"`
	Key    Digest `json:"key"`
	Body   Digest `json:"body"`
}

// recordOf returns the record of r. It stores the body first if r is long.
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

// readRecord reads what recordOf returned. damage says why nobody can read the result; err, that the
// store could not answer.
func readRecord(ctx context.Context, blobs BlobReader, key Digest, b []byte) (r *Result, damage, err error) {
	return readRecordBy(key, b, func(d Digest) ([]byte, error) { return ReadBlob(ctx, blobs, d, AnySize) })
}

// readRecordBy is readRecord with a function that reads the body of a long result.
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

// signatureFormat is the form of the record "signatures/<hex key>/<key id>", by which the holder of a key
// stands for the record of a result, to its last byte:
//
//	{"format":"redsi-signature/1","record":"results/<hex key>","digest":"sha256:…","signed":"…","signer":"NAME:…","signature":"…"}
const signatureFormat = "redsi-signature/1"

// signaturePrefix begins the names of the signatures of a result.
func signaturePrefix(key Digest) string { return SignaturesPrefix + key.Hex() + "/" }

// SignatureName returns the name of the record with a key's signature of a result.
func SignatureName(key Digest, by signature.Public) string { return signaturePrefix(key) + by.ID() }

// statement is what is signed.
type statement struct {
	Format string    `json:"format"`
	Record string    `json:"record"`
	Digest Digest    `json:"digest"` // of the record's bytes
	Signed time.Time `json:"signed"`
}

// sign returns a signature of a result's record.
func sign(key Digest, record []byte, by *signature.Private) ([]byte, error) {
	b, err := json.Marshal(statement{signatureFormat, ResultName(key), Sum(record), time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return nil, err
	}
	return by.Sign(b)
}

// errOfAnother says that a signature is right, but of another record.
var errOfAnother = errors.New("the signature is for a different version of this record: the record was changed, or the signature was copied from elsewhere")

// signerOf returns who signed a result's record by the document under name, also with errOfAnother.
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

// SignResult signs the record of key's result in s, unless by has signed it already; done says whether it
// did. Without a record it is ErrNotExist.
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
	By  signature.Public // zero if that cannot be told
	Err error            // why it does not count: it is damaged, or of another record
}

// Signatures lists the signatures of the result under key, in no set order. Whether their signers are
// trusted is for a signature.Ring to say.
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

// dropStale deletes the signatures under key that are not of the given record.
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

// DropResult deletes the result of key in s, and its signatures first. A result that is not there is no
// error.
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
