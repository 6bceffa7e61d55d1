package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redsi/redsi/internal/system/signature"
)

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
