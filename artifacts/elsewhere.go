package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Elsewhere is the record "elsewhere/<hex digest>" of a blob that a store may leave out, because it
// has a URL of its own.
type Elsewhere struct {
	Format string `json:"format"` // ElsewhereFormat
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"`
	URL    string `json:"url"` // https
	From   string `json:"-"`   // the address of the store that has the record; "": the own store
}

// ElsewhereFormat is the format of Elsewhere.
const ElsewhereFormat = "redsi-elsewhere/1"

// ElsewhereName returns the name of a blob's Elsewhere.
func ElsewhereName(d Digest) string { return ElsewherePrefix + d.Hex() }

// PutElsewhere records in s the URL of a blob that s may lack.
func PutElsewhere(ctx context.Context, s Store, e Elsewhere) error {
	e.Format = ElsewhereFormat
	if err := e.validate(e.Digest); err != nil {
		return err
	}
	return PutJSON(ctx, s.Records, ElsewhereName(e.Digest), e)
}

func (e Elsewhere) validate(d Digest) error {
	u, err := url.Parse(e.URL)
	switch {
	case e.Format != ElsewhereFormat:
		return fmt.Errorf("%s has format %.80q, this redsi reads %q", ElsewhereName(d), e.Format, ElsewhereFormat)
	case e.Digest != d || e.Digest.IsZero() || e.Size < 0:
		return fmt.Errorf("%s is about blob %s with %d bytes", ElsewhereName(d), e.Digest, e.Size)
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%s: %.200q is not the URL of a file", ElsewhereName(d), e.URL)
	}
	return nil
}

// elsewhere reads the record of d's address; ok is false if there is none, or none that can be read. In the own
// store, whose records may have come with anybody's results, only https counts, so that no program of this machine,
// and nobody on the way, is asked for the blob.
func elsewhere(ctx context.Context, records getter, d Digest, own bool) (e Elsewhere, ok bool, err error) {
	b, err := records.Get(ctx, ElsewhereName(d))
	if errors.Is(err, ErrNotExist) {
		return e, false, nil
	}
	ok = err == nil && json.Unmarshal(b, &e) == nil && e.validate(d) == nil && (!own || strings.HasPrefix(e.URL, "https://"))
	return e, ok, err
}

// elsewhere reads the record of d's address in a tier.
func (t *tier) elsewhere(ctx context.Context, d Digest) (e Elsewhere, ok bool, err error) {
	e, ok, err = elsewhere(ctx, t, d, t.own)
	e.From = t.url
	return e, ok, err
}

// Away parts the blobs among ds that s lacks: away have an address in a record of s, gone have none.
// Both are sorted by digest.
func (s Store) Away(ctx context.Context, ds []Digest) (away []Elsewhere, gone []Digest, err error) {
	missing, err := s.Blobs.Missing(ctx, ds)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(missing, Digest.Compare)
	for _, d := range missing {
		e, ok, err := elsewhere(ctx, s.Records, d, true)
		switch {
		case err != nil:
			return nil, nil, err
		case ok:
			away = append(away, e)
		default:
			gone = append(gone, d)
		}
	}
	return away, gone, nil
}

// lostForGood moves the blobs with an address in a record from lost to away, and returns the others.
func lostForGood(ctx context.Context, records getter, lost []Lost, away map[Digest]Elsewhere) (gone []Lost, err error) {
	for _, l := range lost {
		e, ok, err := elsewhere(ctx, records, l.Digest, true)
		if err != nil {
			return nil, err
		}
		if !ok {
			gone = append(gone, l)
			continue
		}
		away[l.Digest] = e
	}
	return gone, nil
}

// awayError says that a blob is not at the address that a record names. It is ErrNotExist.
type awayError struct {
	Digest Digest
	URL    string
}

func (e *awayError) Error() string {
	return fmt.Sprintf("blob %s is not at %s, where a record says it is", e.Digest, e.URL)
}

// Is reports that e is ErrNotExist.
func (e *awayError) Is(target error) bool { return target == ErrNotExist }
