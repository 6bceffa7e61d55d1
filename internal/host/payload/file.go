package payload

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
)

// keySize is the size of AES-256's keys; maxFile bounds a key file, far above any use.
const (
	keySize = 32
	maxFile = 64 << 10
)

// Load reads a key file: a key a line, 64 hex digits or base64 of 32 bytes; empty lines and lines that begin with # are
// left out. Errors name lines and quote none. The name "" means that there are no keys.
func Load(file string) (Codec, error) {
	if file == "" {
		return Codec{}, nil
	}
	info, err := os.Stat(file) // first, since opening a pipe would block
	switch {
	case err != nil:
		return Codec{}, err
	case !info.Mode().IsRegular():
		return Codec{}, fmt.Errorf("%s is not a regular file", file)
	case info.Mode().Perm()&0o077 != 0:
		return Codec{}, fmt.Errorf("%s can be read or written by users other than its owner (mode %04o): run `chmod 600` on it; if others had access, make a new key", file, info.Mode().Perm())
	case info.Size() > maxFile:
		return Codec{}, fmt.Errorf("%s has more than %d bytes, so it is not a key file", file, maxFile)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return Codec{}, err
	}
	c := Codec{}
	for i, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw := decodeKey(line)
		if raw == nil {
			return Codec{}, fmt.Errorf("%s:%d: a key is 64 hex digits or base64 of 32 bytes; `openssl rand -hex 32` makes one", file, i+1)
		}
		k, err := newKey(raw)
		if err != nil {
			return Codec{}, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		if slices.Contains(c.IDs(), k.id) {
			return Codec{}, fmt.Errorf("%s:%d: key %s occurs twice", file, i+1, k.id)
		}
		c.keys = append(c.keys, k)
	}
	if len(c.keys) == 0 {
		return Codec{}, fmt.Errorf("%s has no key; `openssl rand -hex 32` makes one", file)
	}
	return c, nil
}

// decodeKey returns the key in a line; nil if it has none.
func decodeKey(line string) []byte {
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString,
		base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString,
		base64.URLEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
		if b, err := decode(line); err == nil && len(b) == keySize {
			return b
		}
	}
	return nil
}
