package tracked

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/md5" // what DVC has recorded, and no proof
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/system/lists"
)

// Error is an error that no retry mends: it says what to run.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

func (d *Data) wrong(format string, args ...any) error {
	return &Error{fmt.Sprintf("%s, of %s: ", d.Path, filepath.Base(d.Record)) + fmt.Sprintf(format, args...)}
}

// List names the files, which Open then reads. For a folder it reads the list that DVC keeps, which has no sizes.
func (d *Data) List(ctx context.Context) (*listing.Listing, error) {
	err := d.find()
	if err != nil {
		return nil, err
	}
	l := &listing.Listing{Root: d.Path, Bytes: d.Size}
	list := []struct{ MD5, RelPath string }{{d.MD5, d.below}}
	if d.isFolder() {
		if list, err = d.list(ctx); err != nil {
			return nil, err
		}
	}
	d.objects = map[string]string{}
	for _, f := range list {
		name, in := strings.CutPrefix("/"+f.RelPath, strings.TrimSuffix("/"+d.below, "/"))
		switch {
		case name == "" || name == "/": // the path is a file's
			l.Root, name = filepath.Dir(d.Path), filepath.Base(d.Path)
		case !in || name[0] != '/':
			continue
		}
		x := artifacts.File{Name: strings.TrimPrefix(name, "/")}
		if err := artifacts.CheckFileName(x.Name); err != nil || !form.MatchString(f.MD5) {
			return nil, d.wrong("its list %s has %q with md5 %q: %v", d.MD5, f.RelPath, f.MD5, cmp.Or(err, errors.New("that is none")))
		}
		if d.Exec {
			x.Mode = artifacts.Executable
		}
		l.Files, d.objects[l.Path(x.Name)] = append(l.Files, x), f.MD5
	}
	if len(l.Files) == 0 && d.below != "" {
		return nil, d.wrong("no such file is in the folder's list, md5 %s", d.MD5)
	}
	return l, nil
}

func (d *Data) list(ctx context.Context) (list []struct{ MD5, RelPath string }, err error) {
	in, err := d.open(ctx, d.MD5, "its list, ")
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, d.wrong("its list, md5 %s, cannot be read: %v", d.MD5, err)
	}
	return list, nil
}

// Open reads a file that List has named, by its absolute path: from DVC's cache, else from its remote. Other bytes than
// the recorded ones are an error at their end.
func (d *Data) Open(ctx context.Context, at string) (io.ReadCloser, error) {
	what := ""
	if at != d.Path {
		what = strings.TrimPrefix(at, d.Path+string(filepath.Separator)) + " in it, "
	}
	return d.open(ctx, d.objects[at], what)
}

func (d *Data) open(ctx context.Context, sum, what string) (in io.ReadCloser, err error) {
	name := sum[:2] + "/" + sum[2:]
	if d.Hash != "" {
		name = "files/md5/" + name
	}
	cached := filepath.Join(d.cache, filepath.FromSlash(name))
	where, hint := cached, "delete that, and run dvc fetch "+d.Path
	if in, err = os.Open(cached); errors.Is(err, fs.ErrNotExist) && d.remote != nil {
		where, hint = d.address+"/"+name, "run dvc push where the right bytes are"
		in, err = d.remote(ctx, name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, artifacts.ErrNotExist):
		return nil, d.wrong("%smd5 %s is neither in DVC's cache, as %s, nor in %s: run dvc fetch %s, or dvc push where the bytes are", what, sum, cached, d.address, d.Path)
	case err != nil:
		return nil, fmt.Errorf("%s, of %s: %smd5 %s, %s: %w", d.Path, filepath.Base(d.Record), what, sum, where, err)
	}
	h := md5.New()
	c := &checked{in, h, bufio.NewWriter(h), func(got string) error {
		if got == strings.TrimSuffix(sum, ".dir") {
			return io.EOF
		}
		return d.wrong("%s%s has md5 %s, not %s as recorded: %s", what, where, got, sum, hint)
	}}
	if d.Hash == "" {
		c.to = bufio.NewWriterSize(unixEnds{h}, chunk)
	}
	return c, nil
}

// checked is a reader that ends with an error if what was read has another MD5.
type checked struct {
	io.ReadCloser
	sum hash.Hash
	to  *bufio.Writer          // into sum
	end func(md5 string) error // returns the error at the end
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b[:min(len(b), chunk)]) // so that to passes on full chunks
	c.to.Write(b[:n])
	if err == io.EOF {
		c.to.Flush()
		err = c.end(hex.EncodeToString(c.sum.Sum(nil)))
	}
	return n, err
}

// chunk is how many bytes of a file DVC before version 3 looked at at a time to judge whether it is text.
const chunk = 1 << 20

// unixEnds takes chunks, and turns the line ends of text into \n.
type unixEnds struct{ io.Writer }

func (w unixEnds) Write(part []byte) (int, error) {
	text := part
	if isText(part[:min(512, len(part))]) {
		text = bytes.ReplaceAll(part, []byte("\r\n"), []byte("\n"))
	}
	_, err := w.Writer.Write(text)
	return len(part), err
}

// isText is DVC's guess by the first bytes: text has no zeros, and at most three in ten bytes that are unusual in text.
func isText(head []byte) bool {
	odd := lists.Count(head, func(b byte) bool { return (b < 32 || b > 126) && !bytes.ContainsRune([]byte("\n\r\t\f\b"), rune(b)) })
	return !bytes.Contains(head, []byte{0}) && 10*odd <= 3*len(head)
}
