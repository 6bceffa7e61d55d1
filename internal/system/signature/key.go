package signature

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
)

// Public is a key that verifies signatures, with its owner's name for it, for people: bytes distinguish keys.
type Public struct {
	Name string
	key  [ed25519.PublicKeySize]byte
}

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]*$`)

// isName reports whether a key may have that name. (A bounded repetition in the expression would slow down every start of
// the program.)
func isName(s string) bool { return len(s) <= 100 && keyName.MatchString(s) }

// ParsePublic reads "NAME:BASE64", as String writes it.
func ParsePublic(s string) (p Public, err error) {
	name, code, ok := strings.Cut(s, ":")
	if !ok || !isName(name) {
		return p, fmt.Errorf("%.200q is not a public key: want NAME:BASE64, as redsi key show prints it", s)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(code)
	if err != nil || len(b) != len(p.key) {
		return p, fmt.Errorf("the public key %s must have %d bytes of base64 after its name", name, len(p.key))
	}
	p.Name = name
	copy(p.key[:], b)
	return p, nil
}

func (p Public) String() string { return p.Name + ":" + base64.StdEncoding.EncodeToString(p.key[:]) }

// ID returns the first 16 hex digits of the SHA-256 of the key: a name for files.
func (p Public) ID() string {
	sum := sha256.Sum256(p.key[:])
	return hex.EncodeToString(sum[:8])
}

// Same reports whether two keys are the same, whatever their names.
func (p Public) Same(q Public) bool { return p.key == q.key }

// IsZero reports whether p is the zero value.
func (p Public) IsZero() bool { return p == Public{} }

var notInName = regexp.MustCompile(`[^A-Za-z0-9._@+-]+`)

// UserName returns the user's name in the characters that a key's name may have.
func UserName() string {
	u, err := user.Current()
	if err != nil {
		return "me"
	}
	_, name := filepath.Split(filepath.ToSlash(u.Username))
	return cmp.Or(strings.TrimLeft(notInName.ReplaceAllString(name, ""), "._@+-"), "me")
}

// Private is a signing key.
type Private struct {
	name string
	key  ed25519.PrivateKey
}

// New creates a key.
func New(name string) (*Private, error) {
	if !isName(name) {
		return nil, fmt.Errorf("%.200q is not a valid name of a key: want letters, digits and . _ @ + -, at most 100, beginning with a letter or digit", name)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Private{name, key}, nil
}

// Public returns the public half.
func (k *Private) Public() Public {
	p := Public{Name: k.name}
	copy(p.key[:], k.key.Public().(ed25519.PublicKey))
	return p
}

// privatePrefix begins the only line of a file with a private key.
const privatePrefix = "redsi-signing-key-1 "

// Write writes the key to a new file that only its owner may read.
func (k *Private) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(privatePrefix + k.name + ":" + base64.StdEncoding.EncodeToString(k.key.Seed()) + "\n")
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Read reads what Write wrote. A file that others may read is refused.
func Read(path string) (*Private, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 1024 {
		return nil, &fs.PathError{Op: "read signing key", Path: path, Err: errors.New("it is not a key file")}
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may read the signing key %s: run chmod 600 on it, and make another key if they did", path)
	}
	b := make([]byte, info.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, err
	}
	line, ok := strings.CutPrefix(strings.TrimSpace(string(b)), privatePrefix)
	name, code, colon := strings.Cut(line, ":")
	seed, err := base64.StdEncoding.Strict().DecodeString(code)
	if !ok || !colon || !isName(name) || err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s is not a redsi signing key: make one with redsi key new", path)
	}
	return &Private{name, ed25519.NewKeyFromSeed(seed)}, nil
}
