package artifacts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Digest is a SHA-256. The zero value means "no digest".
type Digest [sha256.Size]byte

// digestPrefix names the algorithm in the text form.
const digestPrefix = "sha256:"

// Sum returns the digest of b.
func Sum(b []byte) Digest { return sha256.Sum256(b) }

// ParseDigest reads the text form, "sha256:" and 64 lower-case hex digits, and nothing else.
func ParseDigest(s string) (Digest, error) {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	if !ok {
		return Digest{}, fmt.Errorf("digest %.80q does not start with %q", s, digestPrefix)
	}
	d, err := ParseHex(digits)
	if err != nil {
		err = fmt.Errorf("digest %.80q: %w", s, err)
	}
	return d, err
}

// ParseHex reads 64 lower-case hex digits, as in record names.
func ParseHex(s string) (Digest, error) {
	var d Digest
	if len(s) != hex.EncodedLen(len(d)) || strings.ContainsAny(s, "ABCDEF") {
		return Digest{}, fmt.Errorf("want %d lower-case hex digits", hex.EncodedLen(len(d)))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return Digest{}, err
	}
	return d, nil
}

// Hex returns the 64 hex digits without the algorithm's name.
func (d Digest) Hex() string { return hex.EncodeToString(d[:]) }

// String returns the text form that ParseDigest reads.
func (d Digest) String() string { return digestPrefix + d.Hex() }

// Short returns the first 12 hex digits, for people.
func (d Digest) Short() string { return d.Hex()[:12] }

// IsZero reports whether d is the zero value.
func (d Digest) IsZero() bool { return d == Digest{} }

// Compare orders digests by their bytes.
func (d Digest) Compare(e Digest) int { return bytes.Compare(d[:], e[:]) }

// MarshalText makes Digest a string in JSON, map keys included. The zero value is empty.
func (d Digest) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return []byte{}, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText wrote and rejects everything else.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Digest{}
		return nil
	}
	v, err := ParseDigest(string(b))
	if err == nil {
		*d = v
	}
	return err
}

// KeyFormat names the form of a key's preimage. A change of it changes every key; see docs/formats.md.
const KeyFormat = keyFormats + "1"

// keyFormats begins the names of all formats of keys.
const keyFormats = "redsi-key/"

// KeyOf returns the key of a preimage: the SHA-256 of the frame "redsi-key/1 <length of preimage>\n"
// and the preimage.
func KeyOf(preimage []byte) Digest {
	b := make([]byte, 0, len(KeyFormat)+len(preimage)+24)
	b = append(append(b, KeyFormat...), ' ')
	b = append(strconv.AppendInt(b, int64(len(preimage)), 10), '\n')
	return Sum(append(b, preimage...))
}

// unescaped undoes the escapes that encoding/json adds to a RawMessage, which a preimage does not
// have; an escaped backslash stays, so that what follows it is no escape.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`, "\u2029")

// canonical returns a preimage as it was before encoding/json wrote it into a record.
func canonical(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\u`)) {
		return b
	}
	return []byte(unescaped.Replace(string(b)))
}
