package s3

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
)

// retries is how often minio-go tries a request: with its backoff, for some 3 s while a server is away. Longer outages
// are for the caller's retry.
const retries = 6

// openTimeout bounds the first request, so that a wrong address is reported soon.
const openTimeout = 15 * time.Second

// bucket is the driver of a store in a bucket.
type bucket struct {
	core    minio.Core
	cfg     Config
	foreign bool // somebody else's store, which is only read

	pace   readers.Pace  // of a blob
	lookup time.Duration // of somebody else's store, for what is small

	mu     sync.Mutex
	judged *verdict
	one    sync.Mutex // held by the conditional write of a store with one writer
}

// Open returns the store in c's bucket after requests that prove that the endpoint answers, that the bucket is there,
// that the credentials may list it and, if they may write, that the server heeds If-None-Match.
func Open(ctx context.Context, c Config) (artifacts.Store, error) {
	b, err := connect(c, false)
	if err != nil {
		return artifacts.Store{}, err
	}
	if err := b.probe(ctx); err != nil {
		return artifacts.Store{}, err
	}
	return artifacts.On(b, b.cfg.URL()), nil
}

// OpenReader returns the store in c's bucket, only to be read. It asks nothing yet. "Access denied" counts as "not
// there", since a server says no more to who may not list a public bucket.
func OpenReader(c Config) (artifacts.Reader, error) {
	b, err := connect(c, true)
	if err != nil {
		return artifacts.Reader{}, err
	}
	return artifacts.ReadOn(b, b.cfg.URL()), nil
}

// Files reads objects of c's bucket by their names below its prefix, as long as their bytes come.
func Files(c Config) (func(ctx context.Context, path string) (io.ReadCloser, error), error) {
	b, err := connect(c, true)
	return func(ctx context.Context, path string) (io.ReadCloser, error) {
		o, _, err := b.openObject(ctx, b.key(path))
		return o, err
	}, err
}

// connect asks nothing yet.
func connect(c Config, foreign bool) (*bucket, error) {
	if err := c.normalize(); err != nil {
		return nil, err
	}
	if c.Credentials == nil && !c.Anonymous {
		c.Credentials = usualCredentials(c.Endpoint)
	}
	if foreign && !c.Anonymous { // once: without any, each request would look for them
		v, err := c.Credentials.GetWithContext(nil)
		c.Anonymous = err == nil && v.AccessKeyID == ""
	}
	if c.Anonymous {
		c.Credentials = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	}
	core, err := client(c, 64, retries) // HEAD requests run dozens at a time
	if err != nil {
		return nil, err
	}
	return &bucket{core: *core, cfg: c, foreign: foreign, pace: readers.Usual(), lookup: readers.LookUp}, nil
}

// client returns a client with its own connections, of which it keeps so many open.
func client(c Config, keep, tries int) (*minio.Core, error) {
	transport, err := minio.DefaultTransport(!c.Insecure)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", c.URL(), err)
	}
	transport.MaxIdleConnsPerHost = keep
	opts := &minio.Options{
		Creds:      c.Credentials,
		Secure:     !c.Insecure,
		Region:     c.Region,
		Transport:  transport,
		MaxRetries: tries,
	}
	if c.PathStyle {
		opts.BucketLookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(c.Endpoint, opts)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", c.URL(), err)
	}
	return core, nil
}

// forLookup bounds a look-up in somebody else's store, without which a run continues. For the own store the caller
// decides how long it waits.
func (b *bucket) forLookup(ctx context.Context) (context.Context, context.CancelFunc) {
	if !b.foreign {
		return ctx, func() {}
	}
	return readers.Within(ctx, b.lookup)
}

// verdict returns the error of a request for an object: artifacts.ErrNotExist, or *artifacts.DeniedError if somebody
// else's server does not say whether the object is there.
func (b *bucket) verdict(key string, err error) error {
	switch {
	case absent(err):
		return artifacts.ErrNotExist
	case b.foreign && err != nil && minio.ToErrorResponse(err).Code == minio.AccessDenied:
		return &artifacts.DeniedError{What: b.address(key)}
	}
	return b.explain("read", err)
}

func (b *bucket) probe(ctx context.Context) error {
	if err := b.reach(ctx); err != nil || b.cfg.OneWriter {
		return err
	}
	// A user who may only read, or who wants to free space on a full disk, gets no verdict here: Create asks for it.
	v, err := b.judge(ctx, false)
	if err == nil {
		err = v.ofCreate()
	}
	if _, is := errors.AsType[*artifacts.RefusedError](err); is {
		return b.explain("open the store", err)
	}
	return nil
}

// reach fails unless the bucket can be listed, and soon.
func (b *bucket) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for o := range b.core.ListObjectsIter(ctx, b.cfg.Bucket, minio.ListObjectsOptions{Prefix: b.key("blobs/"), MaxKeys: 1}) {
		if o.Err != nil {
			return b.misplaced(ctx, o.Err)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return b.explain("open the store", err)
	}
	return nil
}

// misplaced explains why a store does not open, and which address may be meant.
func (b *bucket) misplaced(ctx context.Context, cause error) error {
	other, err := b.cfg, b.explain("open the store", cause)
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		other.Insecure = true
		return &artifacts.AddressError{Err: fmt.Errorf("%w: the server there speaks http, and without insecure=true the address means https", err), URL: other.URL()}
	case plainToTLS(err):
		other.Insecure = false
		return &artifacts.AddressError{Err: fmt.Errorf("%w: the server there speaks https, and with insecure=true the address means http", err), URL: other.URL()}
	case minio.ToErrorResponse(cause).Code == minio.NoSuchBucket:
		if has, lerr := b.core.ListBuckets(ctx); lerr == nil && len(has) > 0 {
			names := lists.Map(has, func(x minio.BucketInfo) string { return x.Name })
			err = fmt.Errorf("%w; the server has %s", err, words.And(names, bucketsNamed))
		}
	}
	return err
}

// bucketsNamed bounds how many buckets of a server are named.
const bucketsNamed = 10

// plainToTLS reports whether an error is the answer of an https server, in Go or nginx, to a request in http.
func plainToTLS(err error) bool {
	text := err.Error()
	return strings.Contains(text, "HTTP request to an HTTPS server") || strings.Contains(text, "HTTP request was sent to HTTPS port")
}

// usualCredentials looks where the AWS tools do. It asks the metadata service only where there can be one: elsewhere the
// request hangs.
func usualCredentials(endpoint string) *credentials.Credentials {
	providers := []credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{},
	}
	inCloud := s3utils.IsAmazonEndpoint(url.URL{Host: endpoint})
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		inCloud = inCloud || os.Getenv(name) != ""
	}
	if inCloud {
		providers = append(providers, &credentials.IAM{Client: &http.Client{Timeout: 5 * time.Second}})
	}
	return credentials.NewChainCredentials(providers)
}

// key returns the object's name for a path below the prefix.
func (b *bucket) key(rel string) string {
	if b.cfg.Prefix == "" {
		return rel
	}
	return b.cfg.Prefix + "/" + rel
}

// address returns the bucket and the name of an object, byte for byte.
func (b *bucket) address(key string) string { return "s3://" + b.cfg.Bucket + "/" + key }

// absent reports an error by which the object, and not the bucket, is not there.
func absent(err error) bool {
	return err != nil && minio.ToErrorResponse(err).Code == minio.NoSuchKey
}

// isBusy reports a status by which a server says that it may answer later.
func isBusy(status int) bool {
	return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests
}

// explain adds to an error of the server what to do about it.
func (b *bucket) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	refused, away := false, isBusy(minio.ToErrorResponse(err).StatusCode)
	at := fmt.Sprintf("%s (bucket %s at %s)", what, b.cfg.Bucket, b.cfg.Endpoint)
	var hint string
	var netErr net.Error
	var urlErr *url.Error
	switch resp := minio.ToErrorResponse(err); resp.Code {
	case "NoSuchBucket":
		hint, refused = fmt.Sprintf("the bucket does not exist; make it with `aws s3 mb s3://%s --endpoint-url %s`", b.cfg.Bucket, b.core.EndpointURL()), true
	case "AccessDenied", "AccountProblem", "AllAccessDisabled":
		hint, refused = "these credentials do not allow that; check AWS_ACCESS_KEY_ID, AWS_PROFILE and the bucket's policy", true
		if v, cerr := b.core.GetCreds(); cerr == nil && v.AccessKeyID == "" {
			hint = "this needs credentials, and none were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
		}
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidTokenId", "ExpiredToken", "InvalidToken":
		hint = "the server does not accept these credentials; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_PROFILE"
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
		hint = "the bucket is in another region; add region=… to the URL"
	case "RequestTimeTooSkewed":
		hint = "this machine's clock is wrong"
	case "XMinioStorageFull", "QuotaExceeded", "XMinioAdminBucketQuotaExceeded":
		hint, refused = "the server's disk or quota is full; free space there, for example with `redsi gc`", true
	case "ObjectParentIsFile", "XMinioParentIsObject": // of versitygw, of MinIO
		hint, refused = "an object lies where a folder of the store would be: use another prefix in the URL", true
	case "EntityTooLarge":
		hint, refused = "the server does not accept objects of that size", true
	default:
		var cert *tls.CertificateVerificationError
		if errors.As(err, &urlErr) { // its own text has the whole request
			err = urlErr.Err
		}
		switch {
		case errors.Is(err, http.ErrSchemeMismatch):
		case errors.As(err, &cert):
			hint = "this machine does not trust the server's certificate; set SSL_CERT_FILE to a file of the authorities to trust"
		case urlErr != nil || errors.As(err, &netErr):
			hint, away = "the endpoint cannot be reached; check endpoint=… in the URL, and the network", true
		case strings.Contains(err.Error(), "must be made to API port"):
			hint = "this is the port of the server's console; give the port of S3 as endpoint=…, often 9000"
		}
	}
	if hint != "" {
		at += ": " + hint
	}
	err = fmt.Errorf("%s: %w", at, err)
	switch {
	case refused:
		return &artifacts.RefusedError{Err: err}
	case away:
		return &artifacts.AwayError{Err: err}
	}
	return err
}

// Config says which bucket, where, and as whom.
type Config struct {
	Bucket   string
	Prefix   string // within the bucket; empty or without slashes at its ends
	Endpoint string // host or host:port
	Insecure bool   // http in place of https
	Region   string // empty: the server is asked
	// PathStyle puts the bucket into the path, never into the host's name. Without it the client chooses by the kind of
	// server.
	PathStyle bool
	// Anonymous asks without credentials.
	Anonymous bool
	// OneWriter says that one process at a time writes there, so that also a server will do on which several writers at
	// once could be the first.
	OneWriter bool
	// Credentials is nil for the usual places: AWS_ACCESS_KEY_ID and its companions, MINIO_ROOT_USER, the AWS shared
	// files with AWS_PROFILE, and the role of the machine or container.
	Credentials *credentials.Credentials
}

const defaultEndpoint = "s3.amazonaws.com"

// ParseURL reads s3://bucket/prefix?endpoint=H:P&insecure=true&region=R&path_style=true&anonymous=true&writers=one.
// Endpoint and region default to AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, and AWS_REGION or AWS_DEFAULT_REGION, which
// getenv looks up. Credentials have no place in a URL: it is printed and stored.
func ParseURL(raw string, getenv func(string) string) (Config, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// url.Parse quotes its whole input, which may hold a password.
		return Config{}, fmt.Errorf("the store's URL cannot be parsed; want s3://bucket/prefix?endpoint=host:port")
	}
	if u.User != nil {
		return Config{}, fmt.Errorf("the URL of bucket %q holds credentials; put them into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, and not into the URL", u.Host)
	}
	c := Config{
		Bucket:   u.Host,
		Prefix:   strings.Trim(u.Path, "/"),
		Endpoint: cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")),
		Region:   cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")),
	}
	if u.Scheme != "s3" {
		return Config{}, fmt.Errorf("the scheme of the store is %q, not s3", u.Scheme)
	}
	if err := s3utils.CheckValidBucketNameStrict(c.Bucket); err != nil {
		return Config{}, fmt.Errorf("the store's bucket %q: %w", c.Bucket, err)
	}
	options := map[string]func(string) error{
		"endpoint":   func(v string) error { c.Endpoint = v; return nil },
		"region":     func(v string) error { c.Region = v; return nil },
		"insecure":   boolInto(&c.Insecure),
		"path_style": boolInto(&c.PathStyle),
		"anonymous":  boolInto(&c.Anonymous),
		"writers": func(v string) error {
			if c.OneWriter = v == "one"; !c.OneWriter {
				return fmt.Errorf("%q is not one", v)
			}
			return nil
		},
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Config{}, fmt.Errorf("store s3://%s: the part after '?': %w", c.Bucket, err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		set, ok := options[name]
		if !ok {
			return Config{}, fmt.Errorf("store s3://%s: no option %q; there are %s", c.Bucket, name,
				strings.Join(slices.Sorted(maps.Keys(options)), ", "))
		}
		if err := set(query.Get(name)); err != nil {
			return Config{}, fmt.Errorf("store s3://%s: option %s: %w", c.Bucket, name, err)
		}
	}
	if err := c.normalize(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// normalize takes an endpoint apart that is given as a URL, as AWS_ENDPOINT_URL is, and fills in the default.
func (c *Config) normalize() error {
	c.Endpoint = cmp.Or(c.Endpoint, defaultEndpoint)
	if strings.Contains(c.Endpoint, "@") { // not quoted: it holds a password, most likely
		return fmt.Errorf("the endpoint of bucket %q holds credentials; put them into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, and give the endpoint as host:port", c.Bucket)
	}
	if !strings.Contains(c.Endpoint, "://") {
		if strings.ContainsAny(c.Endpoint, "/?# ") {
			return fmt.Errorf("the endpoint of bucket %q is not host:port", c.Bucket)
		}
		return nil
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.User != nil || strings.Trim(u.Path, "/") != "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("the endpoint of bucket %q is not http(s)://host:port", c.Bucket)
	}
	c.Endpoint, c.Insecure = u.Host, u.Scheme == "http"
	return nil
}

func boolInto(to *bool) func(string) error {
	return func(v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("%q is not true or false", v)
		}
		*to = b
		return nil
	}
}

// URL returns the address that ParseURL reads; it holds no secret.
func (c Config) URL() string {
	q := url.Values{}
	if c.Endpoint != defaultEndpoint {
		q.Set("endpoint", c.Endpoint)
	}
	if c.Region != "" {
		q.Set("region", c.Region)
	}
	for name, on := range map[string]bool{"insecure": c.Insecure, "path_style": c.PathStyle, "anonymous": c.Anonymous} {
		if on {
			q.Set(name, "true")
		}
	}
	if c.OneWriter {
		q.Set("writers", "one")
	}
	u := url.URL{Scheme: "s3", Host: c.Bucket, RawQuery: q.Encode()}
	if c.Prefix != "" {
		u.Path = "/" + c.Prefix
	}
	return u.String()
}
