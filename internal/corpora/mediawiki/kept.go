package mediawiki

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// kept is a file of answers: a line that says to what, and one for each request. A line that a
// process which was killed has not ended does not count.
type kept struct{ *os.File }

// question is the first line: what is asked, and whom.
func (c *Client) question(revisions []uint64) string {
	return fmt.Sprintf("1 %s %s %x\n", c.API, c.Wiki, sha256.Sum256([]byte(join(revisions))))
}

// openKept opens the file, and reads what it has if it is of the same question; else it begins
// anew.
func openKept(path, question string) (k kept, all Answers, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return k, all, err
	}
	if k.File, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return k, all, err
	}
	defer func() {
		if err != nil {
			k.Close()
		}
	}()
	in := bufio.NewReader(k.File)
	first, err := in.ReadString('\n')
	at := int64(len(first))
	if err != nil || first != question {
		all, at = Answers{}, int64(len(question))
		err = errors.Join(k.Truncate(0), write(k.File, 0, question))
	}
	for err == nil && first == question {
		line, end := in.ReadBytes('\n')
		var more Answers
		if end != nil || json.Unmarshal(bytes.TrimSpace(line), &more) != nil {
			break
		}
		all.add(more)
		at += int64(len(line))
	}
	if err == nil {
		err = k.Truncate(at)
	}
	if err == nil {
		_, err = k.Seek(at, io.SeekStart)
	}
	return k, all, err
}

func write(f *os.File, at int64, text string) error {
	_, err := f.WriteAt([]byte(text), at)
	return err
}

// add keeps the answers to a request.
func (k kept) add(a Answers) error {
	b, err := json.Marshal(a)
	if err == nil {
		_, err = k.Write(append(b, '\n'))
	}
	return errors.Join(err, k.Sync())
}

// Forget removes the file of answers, once they are somewhere else.
func (c *Client) Forget() error {
	err := os.Remove(c.Kept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
