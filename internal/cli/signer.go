package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/session/fault"
	"github.com/redsi/redsi/internal/system/signature"
)

// signingKey is the path of the user's key: REDSI_SIGNING_KEY, else in the user's
// configuration folder.
func signingKey() (path string, given bool, err error) {
	if path = os.Getenv("REDSI_SIGNING_KEY"); path != "" {
		return path, true, nil
	}
	folder, err := os.UserConfigDir()
	return filepath.Join(folder, "redsi", "signing.key"), false, err
}

// signer is the user's signing key; nil if there is none.
func (a *app) signer() (*signature.Private, error) {
	path, given, err := signingKey()
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
