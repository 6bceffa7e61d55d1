package mediawiki

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
)

// Client asks one wiki, one request at a time.
type Client struct {
	API      string                        // address of its api.php
	Wiki     string                        // its id, such as "enwiki"; answers of another wiki are refused
	Contact  string                        // e-mail address or web page by which the wiki's operators reach the user
	Kept     string                        // file of the answers so far
	Progress func(done, total int64)       // in revisions
	Log      func(msg string, args ...any) // of retries
	Wait     time.Duration                 // the first pause where the wiki names none, doubled up to 64 times Wait; 0: 5 s

	Requests int64 // sent
	Repeats  int64 // retries among Requests
	checked  bool  // an answer had the right Wiki
}

const (
	tries     = 10               // of one request
	patience  = 17               // tries of a request to a wiki that has answered before and cannot be reached: an hour; a step has ten
	maxlag    = 5                // seconds that copies of the wiki's database may be behind before we yield to others
	longest   = 20 * time.Minute // of a pause that the wiki asks for
	mostBytes = 8 << 20          // of an answer
)

// refused returns the error about an answer that a retry would not change.
func refused(format string, args ...any) error {
	return &fetch.Permanent{Err: fmt.Errorf(format, args...)}
}

// asker follows redirects as transfers of files do, and accepts gzip.
var asker = &http.Client{CheckRedirect: fetch.StayEncrypted}

// CheckContact checks the contact, which Wikimedia demands of all programs
// (https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy).
func (c *Client) CheckContact() error {
	ok := strings.Contains(c.Contact, "@") || strings.HasPrefix(c.Contact, "https://") || strings.HasPrefix(c.Contact, "http://")
	if !ok || strings.ContainsFunc(c.Contact, func(r rune) bool { return r <= ' ' || r == '(' || r == ')' || r == ';' || r > '~' }) {
		return refused("contact is %q, and has to be an e-mail address or a web page by which the wiki's operators reach you", c.Contact)
	}
	return nil
}

type query struct {
	General struct {
		Wiki string `json:"wikiid"`
	} `json:"general"`
	Pages []struct {
		PageID    uint64     `json:"pageid"`
		NS        int32      `json:"ns"`
		Title     string     `json:"title"`
		Redirect  bool       `json:"redirect"`
		Revisions []revision `json:"revisions"`
	} `json:"pages"`
	Bad revisions `json:"badrevids"`
}

type revision struct {
	ID uint64 `json:"revid"`
}

// revisions are an object by id or, as MediaWiki writes an empty one, a list.
type revisions []revision

func (r *revisions) UnmarshalJSON(b []byte) error {
	if strings.HasPrefix(string(b), "[") {
		return json.Unmarshal(b, (*[]revision)(r))
	}
	var by map[string]revision
	err := json.Unmarshal(b, &by)
	*r = slices.Collect(maps.Values(by))
	return err
}

// busy is an error after which the wiki asks for a pause.
type busy struct {
	error
	wait time.Duration // 0: of no given length
}

// ask requests up to 50 revisions, sorted, until the wiki answers for all of them.
func (c *Client) ask(ctx context.Context, ids []uint64) (Answers, error) {
	pause := cmp.Or(c.Wait, 5*time.Second)
	longer, since := 64*pause, time.Now()
	for try := 1; ; try++ {
		all, err := c.allPieces(ctx, ids)
		most, says := tries, "the request is retried"
		if c.checked && readers.Unreachable(err) {
			most, says = patience, fmt.Sprintf("the wiki is out of reach since %s; the request is retried. If you stop, the next run continues from here", since.Format("15:04"))
		}
		switch {
		case err == nil:
			return all, nil
		case context.Cause(ctx) != nil:
			return all, context.Cause(ctx)
		case errors.As(err, new(*fetch.Permanent)):
			return all, fmt.Errorf("the answer of %s cannot be taken: %w", c.API, err)
		case try >= most:
			return all, fmt.Errorf("%s did not answer in %d tries: %w", c.API, try, err)
		}
		wait := pause
		if b, ok := errors.AsType[*busy](err); ok {
			wait = max(wait, min(b.wait, longest))
		}
		if c.Log != nil {
			c.Log(says, "after", wait, "err", err)
		}
		if err := readers.Pause(ctx, wait); err != nil {
			return all, err
		}
		c.Repeats++
		pause = min(2*pause, longer)
	}
}

func (c *Client) allPieces(ctx context.Context, ids []uint64) (Answers, error) {
	ask := url.Values{"action": {"query"}, "format": {"json"}, "formatversion": {"2"}, "prop": {"info|revisions"}, "rvprop": {"ids"},
		"revids": {join(ids)}, "maxlag": {strconv.Itoa(maxlag)}}
	if !c.checked {
		ask.Set("meta", "siteinfo")
		ask.Set("siprop", "general")
	}
	first, last := ask, map[string]string(nil)
	var all query
	for {
		q, next, err := c.once(ctx, ask)
		if err != nil {
			return Answers{}, err
		}
		if !c.checked && q.General.Wiki != c.Wiki {
			return Answers{}, refused("it is of the wiki %q, not of %q", q.General.Wiki, c.Wiki)
		}
		c.checked = true
		all.Pages, all.Bad = append(all.Pages, q.Pages...), append(all.Bad, q.Bad...)
		if len(next) == 0 {
			return pagesOf(&all, ids)
		}
		if maps.Equal(next, last) {
			return Answers{}, refused("it ends in the middle and continues where it began")
		}
		ask, last = maps.Clone(first), next
		for name, value := range next {
			ask.Set(name, value)
		}
	}
}

func join(ids []uint64) string {
	return strings.Join(lists.Map(ids, func(id uint64) string { return strconv.FormatUint(id, 10) }), "|")
}

// once sends one request, and returns its answer and the parameters of the next piece, if there is one.
func (c *Client) once(ctx context.Context, ask url.Values) (*query, map[string]string, error) {
	ctx, cancel := readers.Within(ctx, 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.API+"?"+ask.Encode(), nil)
	if err != nil {
		return nil, nil, refused("%v", err)
	}
	req.Header.Set("User-Agent", "redsi/1 ("+c.Contact+"; https://github.com/redsi/redsi) Go-http-client")
	c.Requests++
	res, err := asker.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok { // its text has the complete address
			err = u.Err
		}
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostBytes))
	if err != nil {
		return nil, nil, err
	}
	wait := retryAfter(res.Header)
	switch code := res.StatusCode; {
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		return nil, nil, &busy{errors.New(res.Status), wait}
	case code != http.StatusOK:
		return nil, nil, refused("%s: %s", res.Status, beginning(body))
	}
	if typ, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); typ != "application/json" {
		return nil, nil, fmt.Errorf("it is not JSON but %q: %s", typ, beginning(body))
	}
	var answer struct {
		Error *struct {
			Code string `json:"code"`
			Info string `json:"info"`
		} `json:"error"`
		Continue map[string]string `json:"continue"`
		Query    *query            `json:"query"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, nil, fmt.Errorf("it cannot be read: %w: %s", err, beginning(body))
	}
	if e := answer.Error; e != nil {
		err := fmt.Errorf("%s: %s", e.Code, e.Info)
		if e.Code == "maxlag" || e.Code == "ratelimited" || e.Code == "readonly" || strings.HasPrefix(e.Code, "internal_api_error") {
			return nil, nil, &busy{err, wait}
		}
		return nil, nil, refused("%v", err)
	}
	if answer.Query == nil {
		return nil, nil, fmt.Errorf("it has no query: %s", beginning(body))
	}
	return answer.Query, answer.Continue, nil
}

func beginning(body []byte) string { return fmt.Sprintf("%.80q", body) }

// retryAfter returns the pause that an answer asks for, in seconds or until a date.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(0, time.Until(at))
}
