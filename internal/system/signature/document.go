package signature

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// A signed document is a JSON object whose last members are its signer and the signature over frame and all bytes before
// the signature:
//
//	{"format":"redsi-attestation/1", … ,"signer":"NAME:BASE64","signature":"BASE64"}
const (
	frame    = "redsi-signed/1\n"
	sigOpen  = `,"signature":"`
	sigClose = `"}`
)

// members are those that every signed document has.
type members struct {
	Format    string  `json:"format"`
	Signer    *string `json:"signer"`
	Signature *string `json:"signature"`
}

// Sign adds signer and signature to a JSON object that has neither. The object must have a format, so that a signature
// of one type of document is not valid for another.
func (k *Private) Sign(object []byte) ([]byte, error) {
	var head members
	object = bytes.TrimSpace(object)
	if err := json.Unmarshal(object, &head); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	if head.Format == "" || head.Signer != nil || head.Signature != nil {
		return nil, errors.New("sign: the document has no format, or is signed")
	}
	signer, err := json.Marshal(k.Public().String())
	if err != nil {
		return nil, err
	}
	body := fmt.Appendf(bytes.Clone(object[:len(object)-1]), `,"signer":%s`, signer)
	sig := ed25519.Sign(k.key, append([]byte(frame), body...))
	return fmt.Appendf(body, "%s%s%s", sigOpen, base64.StdEncoding.EncodeToString(sig), sigClose), nil
}

// Signer returns the key that signed a document; zero if it is not signed. A signature of other bytes is an error.
func Signer(doc []byte) (p Public, err error) {
	var head members
	doc = bytes.TrimSpace(doc)
	if err := json.Unmarshal(doc, &head); err != nil {
		return p, err
	}
	if head.Signer == nil && head.Signature == nil {
		return p, nil
	}
	if head.Signer == nil || head.Signature == nil {
		return p, errors.New("the document has either a signer or a signature, not both")
	}
	if p, err = ParsePublic(*head.Signer); err != nil {
		return Public{}, err
	}
	sig, err := base64.StdEncoding.Strict().DecodeString(*head.Signature)
	body, ok := bytes.CutSuffix(doc, []byte(sigOpen+*head.Signature+sigClose))
	if err != nil || !ok || !ed25519.Verify(p.key[:], append([]byte(frame), body...), sig) {
		return Public{}, fmt.Errorf("the signature is not by %s: the document was changed after it was signed, or signed with another key", p.Name)
	}
	return p, nil
}
