package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/redsi/redsi/internal/system/readers"
)

var httpClient = &http.Client{Transport: &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
	TLSHandshakeTimeout:   30 * time.Second,
	ResponseHeaderTimeout: time.Minute,
	DisableCompression:    true, // to get the published bytes
}, CheckRedirect: StayEncrypted}

// mostRedirects is net/http's own bound.
const mostRedirects = 10

// StayEncrypted is a CheckRedirect that permanently refuses to leave https, since anybody could change the bytes.
func StayEncrypted(req *http.Request, via []*http.Request) error {
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return &Permanent{fmt.Errorf("%s redirects from https to %s, where anybody on the network could change the bytes: give a source that stays on https", via[len(via)-1].URL.Host, req.URL.Scheme)}
	}
	if len(via) >= mostRedirects {
		return &Permanent{fmt.Errorf("stopped after %d redirects", mostRedirects)}
	}
	return nil
}

// partial is stored beside a partial file: a range must come from the object that the first bytes came from.
type partial struct {
	URL       string `json:"url"`       // redacted; the file's name is a digest of the unredacted URL
	Validator string `json:"validator"` // strong ETag or Last-Modified
	Size      int64  `json:"size"`      // of the complete file; -1 if the server gives none
}

func metaPath(part string) string { return part + ".json" }

func readPartial(part, url string) (p partial, have int64) {
	b, err := os.ReadFile(metaPath(part))
	if err != nil || json.Unmarshal(b, &p) != nil || p.URL != url || p.Validator == "" {
		return partial{}, 0
	}
	return p, sizeOf(part)
}

// transfer appends to the partial file until the source is complete.
func (r *Request) transfer(ctx context.Context, s Source, part string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	meta, have := readPartial(part, Redact(s.URL))
	if have > 0 && have == meta.Size {
		return nil // a process ended between the transfer and the use of the file
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return &Permanent{err}
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", meta.Validator)
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	switch code := res.StatusCode; {
	case code == http.StatusPartialContent && have > 0:
		if err := readers.CheckRest(res, have, meta.Size); err != nil {
			return errors.Join(err, os.RemoveAll(metaPath(part))) // start over
		}
	case code == http.StatusOK:
		have = 0
		meta = partial{URL: Redact(s.URL), Validator: readers.Validator(res), Size: res.ContentLength}
	case code == http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(errors.New("the partial file no longer matches the source; starting over"), os.RemoveAll(metaPath(part)))
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		return errors.New(res.Status)
	default: // no retry changes it; 202 and 204, too, need a person
		return &Permanent{errors.New(res.Status)}
	}
	if res.ProtoMajor == 1 && res.ContentLength < 0 && len(res.TransferEncoding) == 0 && r.SHA256 == "" {
		return &Permanent{errors.New("the server does not say how long the file is, so a cut transfer looks complete: give its sha256")}
	}
	return r.append(r.pace.Watch(ctx, cancel, res.Body), part, meta, have)
}

func (r *Request) append(body io.Reader, part string, p partial, have int64) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(have); err != nil {
		return err
	}
	if err := os.WriteFile(metaPath(part), b, 0o644); err != nil {
		return err
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return err
	}
	n, err := io.Copy(f, readers.Counted(body, func(n int64) { r.Progress(have+n, max(p.Size, 0)) }))
	if err == nil && p.Size >= 0 && have+n != p.Size {
		err = fmt.Errorf("the connection ended after %d of %d bytes: %w", have+n, p.Size, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
