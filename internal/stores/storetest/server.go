package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/s3"
	"github.com/redsi/redsi/internal/system/loopback"
	"github.com/redsi/redsi/internal/system/testkit"
)

// serverStart bounds the start of a server, which takes seconds.
const serverStart = time.Minute

// Server is a server of objects that runs for the length of a test.
type Server struct {
	Endpoint string // host:port on the loopback interface
	Bucket   string
	Dir      string // the disk it keeps its objects on

	access, secret string
	stores         atomic.Int32
	judge          sync.Once
	verdict        map[string]any // on the server
}

// program is how a server is started.
type program struct {
	name, variable, get string // of the program; of the environment variable with its path; how to get it
	args                func(s *Server, address, other string) []string
	env                 func(s *Server) []string
}

var minioProgram = program{
	name: "minio", variable: "REDSI_MINIO", get: "run `make test`, which builds one and sets it",
	args: func(s *Server, address, other string) []string {
		return []string{"server", "--quiet", "--address", address, "--console-address", other, s.Dir}
	},
	env: func(s *Server) []string {
		return []string{"MINIO_ROOT_USER=" + s.access, "MINIO_ROOT_PASSWORD=" + s.secret, "MINIO_BROWSER=off", "MINIO_UPDATE=off"}
	},
}

// otherPrograms are the other servers that users are told of, for `make test-stores`.
var otherPrograms = map[string]program{
	"versitygw": {
		name: "versitygw", variable: "REDSI_VERSITYGW", get: "run `make test-stores`",
		args: func(s *Server, address, _ string) []string {
			return []string{"--port", address, "--access", s.access, "--secret", s.secret, "--keep-alive", "--quiet", "posix", s.Dir}
		},
	},
	"seaweedfs": {
		name: "weed", variable: "REDSI_SEAWEEDFS", get: "run `make test-stores`",
		args: func(s *Server, address, other string) []string {
			_, port, _ := net.SplitHostPort(address)
			_, master, _ := net.SplitHostPort(other)
			return []string{"server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-dir=" + s.Dir, "-s3", "-s3.port=" + port, "-master.port=" + master,
				"-master.volumeSizeLimitMB=64", "-volume.max=100"}
		},
		env: func(s *Server) []string {
			return []string{"AWS_ACCESS_KEY_ID=" + s.access, "AWS_SECRET_ACCESS_KEY=" + s.secret}
		},
	},
}

// MinIO starts a server for t on a free port, with an empty bucket, and stops it when t ends. REDSI_MINIO names the
// program; a test without it fails, since a store that is not tried on a real server is not tested.
func MinIO(t *testing.T) *Server {
	t.Helper()
	return serve(t, minioProgram)
}

// Others calls try with each of the other servers, started as MinIO does. It skips t where none of their variables is
// set.
func Others(t *testing.T, try func(t *testing.T, server *Server)) {
	if !slices.ContainsFunc(slices.Collect(maps.Values(otherPrograms)), func(p program) bool { return os.Getenv(p.variable) != "" }) {
		t.Skip("`make test-stores` tries them")
	}
	for name, p := range otherPrograms {
		if name == "seaweedfs" && runtime.GOOS == "darwin" { // there is no program for it
			continue
		}
		t.Run(name, func(t *testing.T) { try(t, serve(t, p)) })
	}
}

func serve(t *testing.T, p program) *Server {
	t.Helper()
	binary := os.Getenv(p.variable)
	if binary == "" {
		t.Fatalf("%s does not name a %s binary: %s", p.variable, p.name, p.get)
	}
	s := &Server{Bucket: "redsi-test", Dir: t.TempDir(), access: "redsi-test", secret: "redsi-test-secret"}
	for range 5 { // another process may take the free port first
		if s.start(t, binary, p) {
			break
		}
	}
	if s.Endpoint == "" {
		t.Fatalf("the %s server did not start", p.name)
	}
	return s
}

// start starts the server until t ends, and reports whether it came up.
func (s *Server) start(t *testing.T, binary string, p program) bool {
	t.Helper()
	address, err := loopback.FreeAddress()
	testkit.None(t, err)
	other, err := loopback.FreeAddress()
	testkit.None(t, err)
	var log bytes.Buffer
	cmd := exec.Command(binary, p.args(s, address, other)...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if p.env != nil {
		cmd.Env = append(cmd.Env, p.env(s)...)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", binary, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), serverStart)
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
		t.Logf("%s at %s: %v\n%s", p.name, address, err, log.String())
		s.Endpoint = ""
		return false
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-exited
	})
	return true
}

// Config returns the configuration of a new place in the bucket.
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
	s.judged(t, c)
	store, err := s3.Open(t.Context(), c)
	testkit.None(t, err)
	return store
}

// judged stores the verdict of one race in the place that c describes, since each race takes a second.
func (s *Server) judged(t *testing.T, c s3.Config) {
	t.Helper()
	s.judge.Do(func() {
		first := s.Config()
		testkit.None(t, testkit.Err(s3.Open(t.Context(), first)))
		testkit.None(t, json.Unmarshal(s.GetObject(t, "s3://"+path.Join(first.Bucket, first.Prefix, "probe/verdict.json")), &s.verdict))
	})
	v := maps.Clone(s.verdict)
	v["endpoint"] = c.Endpoint
	text, err := json.Marshal(v)
	testkit.None(t, err)
	s.PutObject(t, c.Bucket, path.Join(c.Prefix, "probe/verdict.json"), text)
}

// Reader opens the store that c describes, only to be read.
func (s *Server) Reader(t *testing.T, c s3.Config) artifacts.Reader {
	t.Helper()
	store, err := s3.OpenReader(c)
	testkit.None(t, err)
	return store
}

// Public lets everybody read the objects of the bucket by name, and nobody list them.
func (s *Server) Public(t *testing.T) {
	t.Helper()
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":["s3:GetObject"],"Resource":["arn:aws:s3:::%s/*"]}]}`, s.Bucket)
	testkit.None(t, s.client(t).SetBucketPolicy(t.Context(), s.Bucket, policy))
}

// Credentials returns the credentials of the server's root user.
func (s *Server) Credentials() *credentials.Credentials {
	return credentials.NewStaticV4(s.access, s.secret, "")
}

// URL returns the address of a store below a prefix.
func (s *Server) URL(prefix string) string {
	c := s.Config()
	c.Prefix = strings.Trim(prefix, "/")
	return c.URL()
}

// Env returns the environment in which a process can use a URL of this server.
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
	testkit.None(t, testkit.Err(client.PutObject(t.Context(), bucket, key, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{})))
}

// GetObject returns the bytes of s3://BUCKET/KEY.
func (s *Server) GetObject(t *testing.T, address string) []byte {
	t.Helper()
	bucket, key, _ := strings.Cut(strings.TrimPrefix(address, "s3://"), "/")
	o, err := s.client(t).GetObject(t.Context(), bucket, key, minio.GetObjectOptions{})
	testkit.None(t, err)
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
	testkit.None(t, err)
	return client
}
