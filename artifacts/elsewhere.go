package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
)

// Elsewhere is the record "elsewhere/<hex digest>": a blob that is left out of a store,
// because it lies under an address of its own.
type Elsewhere struct {
	Format string `json:"format"` // ElsewhereFormat
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"`
	URL    string `json:"url"` // https
	From   string `json:"-"`   // the address of the store that says so
}

// ElsewhereFormat is the form of the records of blobs that lie elsewhere.
const ElsewhereFormat = "redsi-elsewhere/1"

const elsewherePrefix = "elsewhere/"

// ElsewhereName is the name of the record that says where a blob lies.
func ElsewhereName(d Digest) string { return elsewherePrefix + d.Hex() }

// PutElsewhere says in s that a blob which it may lack lies under an address.
func PutElsewhere(ctx context.Context, s Store, e Elsewhere) error {
	e.Format = ElsewhereFormat
	if err := e.validate(e.Digest); err != nil {
		return err
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return s.Records.Put(ctx, ElsewhereName(e.Digest), b)
}

func (e Elsewhere) validate(d Digest) error {
	u, err := url.Parse(e.URL)
	switch {
	case e.Format != ElsewhereFormat:
		return fmt.Errorf("%s has format %.80q, this redsi reads %q", ElsewhereName(d), e.Format, ElsewhereFormat)
	case e.Digest != d || e.Digest.IsZero() || e.Size < 0:
		return fmt.Errorf("%s is about blob %s with %d bytes", ElsewhereName(d), e.Digest, e.Size)
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%s: %.200q is no address of a file", ElsewhereName(d), e.URL)
	}
	return nil
}

// elsewhere reads where records say that d lies; a record that cannot be read says nothing.
func elsewhere(ctx context.Context, records recordReader, d Digest) (e Elsewhere, ok bool, err error) {
	b, err := records.Get(ctx, ElsewhereName(d))
	if errors.Is(err, ErrNotExist) {
		return e, false, nil
	}
	if err != nil {
		return e, false, err
	}
	return e, json.Unmarshal(b, &e) == nil && e.validate(d) == nil, nil
}

// follow copies a blob into own from where a record says that it lies; ErrNotExist if none does.
func (l *layers) follow(ctx context.Context, records recordReader, d Digest, read func(n int64)) error {
	if l.policy.Elsewhere == nil {
		return ErrNotExist
	}
	e, ok, err := elsewhere(ctx, records, d)
	if err != nil {
		return err
	}
	if o, theirs := records.(*source); theirs {
		e.From = o.url
	}
	if !ok || l.isWrong(e) {
		return ErrNotExist
	}
	down := func(err error) error {
		return &DownError{Name: e.URL, What: "blob " + d.String(), Err: err}
	}
	rc, err := l.policy.Elsewhere(ctx, e)
	if errors.Is(err, ErrNotExist) {
		l.setWrong(e)
		return err
	}
	if err != nil {
		return down(err)
	}
	defer rc.Close()
	seen := &failing{r: l.sized(bounded(VerifyReader(rc, d, e.URL), d, e.Size, e.URL), d, e.URL)}
	_, _, err = l.own.Blobs.Put(ctx, told(seen, read))
	var bad *IntegrityError
	switch {
	case err == nil || seen.err == nil || context.Cause(ctx) != nil:
		return err
	case errors.As(seen.err, &bad):
		l.setWrong(e)
		theirs := *bad
		theirs.Other = true
		return &theirs
	}
	return down(seen.err)
}

func (l *layers) isWrong(e Elsewhere) bool {
	e.From = ""
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrong[e]
}

// setWrong notes that what lies under an address is not what the record says: another
// record may be right about it.
func (l *layers) setWrong(e Elsewhere) {
	e.From = ""
	l.mu.Lock()
	l.wrong[e] = true
	l.mu.Unlock()
	l.known.forget()
}
