package mediawiki

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// kept is a file with a question, the wiki and the revisions, and its answers, a line for each request; an unended line
// does not count.
type kept struct{ *os.File }

// openKept opens the file behind its answers, if it has the same question; else it empties the file.
func openKept(path, question string) (k kept, all Answers, err error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return k, all, err
	}
	at := 0 // end of the valid part of the file
	if answers, same := bytes.CutPrefix(text, []byte(question)); same {
		at = len(question)
		for line := range bytes.Lines(answers) {
			var more Answers
			if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &more) != nil {
				break
			}
			all.add(more)
			at += len(line)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return k, all, err
	}
	if k.File, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return k, all, err
	}
	if err = k.Truncate(int64(at)); err == nil && at == 0 {
		_, err = k.WriteString(question)
	}
	if err != nil {
		k.Close()
	}
	return k, all, err
}

func (k kept) add(a Answers) error {
	b, err := json.Marshal(a)
	if err == nil {
		_, err = k.Write(append(b, '\n'))
	}
	return errors.Join(err, k.Sync())
}

// Forget removes the file of answers, once they are stored elsewhere.
func (c *Client) Forget() error { return os.RemoveAll(c.Kept) }
