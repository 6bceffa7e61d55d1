package devserver

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Last says how the newest server of a folder was reached; false if there has
// been none. The server may have ended since.
func Last(dir string) (Info, bool) {
	var i Info
	b, err := os.ReadFile(filepath.Join(dir, infoFile))
	if err != nil || json.Unmarshal(b, &i) != nil || i.Address == "" {
		return Info{}, false
	}
	return i, true
}
