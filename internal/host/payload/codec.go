package payload

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/redsi/redsi/internal/system/lists"
)

// What the metadata of an encrypted payload says.
const (
	Encoding = "binary/encrypted"
	KeyID    = "key-id"
)

// Codec encrypts with its first key and decrypts with any. Without keys it leaves payloads as they are.
type Codec struct{ keys []key }

type key struct {
	id   string
	aead cipher.AEAD
}

// Error says why a payload cannot be read. It is permanent: no retry in this process helps.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

func newKey(b []byte) (key, error) {
	block, err := aes.NewCipher(b)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	sum := sha256.Sum256(b)
	return key{id: hex.EncodeToString(sum[:4]), aead: aead}, err
}

// IDs returns the ids of the codec's keys, first the key that encrypts.
func (c Codec) IDs() []string { return lists.Map(c.keys, func(k key) string { return k.id }) }

// Encode implements converter.PayloadCodec.
func (c Codec) Encode(payloads []*common.Payload) ([]*common.Payload, error) {
	if len(c.keys) == 0 {
		return payloads, nil
	}
	k := c.keys[0]
	out := make([]*common.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encrypt a payload: %w", err)
		}
		meta := map[string][]byte{converter.MetadataEncoding: []byte(Encoding), KeyID: []byte(k.id)}
		out[i] = &common.Payload{Metadata: meta, Data: k.aead.Seal(nil, nil, plain, canonical(meta))}
	}
	return out, nil
}

// Decode implements converter.PayloadCodec. A payload that is not encrypted is taken as it is: it is of a run that began
// before there was a key, or of a person's own `temporal workflow start`.
func (c Codec) Decode(payloads []*common.Payload) ([]*common.Payload, error) {
	out := make([]*common.Payload, len(payloads))
	for i, p := range payloads {
		out[i] = p
		if string(p.GetMetadata()[converter.MetadataEncoding]) != Encoding {
			continue
		}
		plain, err := c.open(p)
		if err != nil {
			return nil, err
		}
		out[i] = &common.Payload{}
		if err := proto.Unmarshal(plain, out[i]); err != nil {
			return nil, &Error{"an encrypted payload does not contain a payload: " + err.Error()}
		}
	}
	return out, nil
}

func (c Codec) open(p *common.Payload) ([]byte, error) {
	id := string(p.Metadata[KeyID])
	if id == "" {
		return nil, &Error{"a payload at Temporal is encrypted, and not by redsi: it names no key"}
	}
	i := slices.IndexFunc(c.keys, func(k key) bool { return k.id == id })
	if i < 0 {
		has := "it was given none"
		if len(c.keys) > 0 {
			has = "it has " + strings.Join(c.IDs(), ", ")
		}
		return nil, &Error{fmt.Sprintf("a payload at Temporal is encrypted with key %.16q, which this process lacks (%s): "+
			"give it the key file of the other redsi processes with --payload-key or REDSI_PAYLOAD_KEY", id, has)}
	}
	plain, err := c.keys[i].aead.Open(nil, nil, p.Data, canonical(p.Metadata))
	if err != nil {
		return nil, &Error{fmt.Sprintf("a payload at Temporal does not match what was encrypted with key %s: "+
			"its bytes or its metadata were changed there or in transit", id)}
	}
	return plain, nil
}

// canonical returns metadata as bytes that no other metadata has.
func canonical(meta map[string][]byte) []byte {
	var b []byte
	put := func(x []byte) { b = append(binary.BigEndian.AppendUint64(b, uint64(len(x))), x...) }
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		put([]byte(name))
		put(meta[name])
	}
	return b
}
