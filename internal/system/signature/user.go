package signature

import (
	"cmp"
	"os/user"
	"path/filepath"
	"regexp"
)

var notInName = regexp.MustCompile(`[^A-Za-z0-9._@+-]+`)

// UserName returns the user's name in the characters that a key's name may have.
func UserName() string {
	u, err := user.Current()
	if err != nil {
		return "me"
	}
	_, name := filepath.Split(filepath.ToSlash(u.Username))
	return cmp.Or(regexp.MustCompile(`^[^A-Za-z0-9]+`).ReplaceAllString(notInName.ReplaceAllString(name, ""), ""), "me")
}
