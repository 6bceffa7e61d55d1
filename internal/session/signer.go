package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/signature"
)

// SigningKey is the path of the user's key: REDSI_SIGNING_KEY, else in the user's
// configuration folder.
func SigningKey() (path string, given bool, err error) {
	if path = os.Getenv("REDSI_SIGNING_KEY"); path != "" {
		return path, true, nil
	}
	folder, err := os.UserConfigDir()
	return filepath.Join(folder, "redsi", "signing.key"), false, err
}

// Signer is the user's signing key; nil if there is none.
func (se *Session) Signer() (*signature.Private, error) {
	path, given, err := SigningKey()
	if err != nil {
		return nil, nil // without a home there is no key
	}
	k, err := signature.Read(path)
	if errors.Is(err, fs.ErrNotExist) && !given {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Input(err)
	}
	return k, nil
}
