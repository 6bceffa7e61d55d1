package storetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/s3"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/loopback"
)

// minioStart bounds the start of the server, which takes a second or two.
const minioStart = time.Minute

// Server is a MinIO server that runs for the length of a test.
type Server struct {
	Endpoint string // host:port on the loopback interface
	Bucket   string
	Dir      string // the disk it keeps its objects on

	access, secret string
	stores         atomic.Int32
}

// MinIO starts a server of its own for t on a free port, with an empty bucket,
// and stops it when t ends. The binary is the one that REDSI_MINIO names; a test
// without it fails, since a store that is not tried on a real server is not
// tested.
func MinIO(t *testing.T) *Server {
	t.Helper()
	binary := os.Getenv("REDSI_MINIO")
	if binary == "" {
		t.Fatal("REDSI_MINIO does not name a minio binary: run `make test`, which builds one and sets it")
	}
	s := &Server{Bucket: "redsi-test", Dir: t.TempDir(), access: "redsi-test", secret: "redsi-test-secret"}
	for range 5 { // another process may take the free port first
		if s.start(t, binary) {
			break
		}
	}
	if s.Endpoint == "" {
		t.Fatal("the MinIO server did not start")
	}
	return s
}

// start reports whether the server came up; if so it stops with t.
func (s *Server) start(t *testing.T, binary string) bool {
	t.Helper()
	address, err := loopback.FreeAddress()
	errtest.None(t, err)
	console, err := loopback.FreeAddress()
	errtest.None(t, err)
	var log bytes.Buffer
	cmd := exec.Command(binary, "server", "--quiet", "--address", address, "--console-address", console, s.Dir)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = append(os.Environ(), "MINIO_ROOT_USER="+s.access, "MINIO_ROOT_PASSWORD="+s.secret,
		"MINIO_BROWSER=off", "MINIO_UPDATE=off", "HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", binary, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), minioStart)
	defer cancel()
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited); cancel() }()
	s.Endpoint = address
	err = s.client(t).MakeBucket(ctx, s.Bucket, minio.MakeBucketOptions{})
	for err != nil && ctx.Err() == nil {
		<-time.After(20 * time.Millisecond)
		err = s.client(t).MakeBucket(ctx, s.Bucket, minio.MakeBucketOptions{})
	}
	if err != nil {
		cmd.Process.Kill()
		<-exited
		t.Logf("MinIO at %s: %v\n%s", address, err, log.String())
		s.Endpoint = ""
		return false
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-exited
	})
	return true
}

// Config returns the configuration of a place in the bucket that no other call
// has returned.
func (s *Server) Config() s3.Config {
	return s3.Config{
		Bucket:      s.Bucket,
		Prefix:      fmt.Sprintf("store-%d", s.stores.Add(1)),
		Endpoint:    s.Endpoint,
		Insecure:    true,
		Region:      "us-east-1",
		Credentials: s.Credentials(),
	}
}

// Store opens an empty store.
func (s *Server) Store(t *testing.T) artifacts.Store {
	t.Helper()
	return s.Open(t, s.Config())
}

// Open opens the store that c describes.
func (s *Server) Open(t *testing.T, c s3.Config) artifacts.Store {
	t.Helper()
	store, err := s3.Open(t.Context(), c)
	errtest.None(t, err)
	return store
}

// Reader opens the store that c describes to be read only.
func (s *Server) Reader(t *testing.T, c s3.Config) artifacts.Reader {
	t.Helper()
	store, err := s3.OpenReader(c)
	errtest.None(t, err)
	return store
}

// Public lets everybody read the objects of the bucket by name, and list none.
func (s *Server) Public(t *testing.T) {
	t.Helper()
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":["s3:GetObject"],"Resource":["arn:aws:s3:::%s/*"]}]}`, s.Bucket)
	errtest.None(t, s.client(t).SetBucketPolicy(t.Context(), s.Bucket, policy))
}

// Credentials are those of the server's root user.
func (s *Server) Credentials() *credentials.Credentials {
	return credentials.NewStaticV4(s.access, s.secret, "")
}

// URL is the address of a store below the given prefix.
func (s *Server) URL(prefix string) string {
	c := s.Config()
	c.Prefix = strings.Trim(prefix, "/")
	return c.URL()
}

// Env is what a process needs in its environment to use a URL of this server.
func (s *Server) Env() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + s.access, "AWS_SECRET_ACCESS_KEY=" + s.secret, "AWS_REGION=us-east-1"}
}

// Rewrite replaces a stored object behind the store's back.
func (s *Server) Rewrite(t *testing.T, c s3.Config, d artifacts.Digest, data []byte) {
	t.Helper()
	s.PutObject(t, c.Bucket, path.Join(c.Prefix, "blobs", artifacts.BlobPath(d)), data)
}

// PutObject stores an object behind the back of every store.
func (s *Server) PutObject(t *testing.T, bucket, key string, data []byte) {
	t.Helper()
	client := s.client(t)
	errtest.None(t, errtest.Of(client.PutObject(t.Context(), bucket, key, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{})))
}

// GetObject has the bytes of s3://BUCKET/KEY.
func (s *Server) GetObject(t *testing.T, address string) []byte {
	t.Helper()
	bucket, key, _ := strings.Cut(strings.TrimPrefix(address, "s3://"), "/")
	o, err := s.client(t).GetObject(t.Context(), bucket, key, minio.GetObjectOptions{})
	errtest.None(t, err)
	defer o.Close()
	b, err := io.ReadAll(o)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return b
}

func (s *Server) client(t *testing.T) *minio.Client {
	t.Helper()
	client, err := minio.New(s.Endpoint, &minio.Options{Creds: s.Credentials(), MaxRetries: 1})
	errtest.None(t, err)
	return client
}
