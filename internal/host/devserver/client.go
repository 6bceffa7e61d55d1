package devserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
)

// serverName is the name in the server's certificate.
const serverName = "redsi-temporal"

// ClientOptions says how to call the server. A lost connection is made again, to the server
// that the folder then has, which is started if there is none: calls that are retried, such as
// polls and waits, survive its death.
func (s *Server) ClientOptions() (client.Options, error) {
	t, err := clientTLS(s.o.Dir, "client")
	if err != nil {
		return client.Options{}, err
	}
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		i, err := s.ensure(ctx)
		if err != nil {
			return nil, err
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", i.Address)
	}
	return client.Options{HostPort: s.Address, Namespace: "default", ConnectionOptions: client.ConnectionOptions{
		TLS: t, DialOptions: []grpc.DialOption{grpc.WithContextDialer(dial)}, GetSystemInfoTimeout: time.Minute}}, nil
}

// LookOptions says how to call the server of a folder without keeping it alive or starting
// it.
func LookOptions(dir string, i Info) (client.Options, error) {
	t, err := clientTLS(dir, "client")
	return client.Options{HostPort: i.Address, Namespace: "default", ConnectionOptions: client.ConnectionOptions{TLS: t, DialOptions: wherever(dir)}}, err
}

// clientTLS reads the certificates made by a server of the folder for clients of a name.
func clientTLS(dir, name string) (*tls.Config, error) {
	dir = filepath.Join(dir, "tls")
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"))
	if err != nil {
		return nil, fmt.Errorf("the key of the Temporal server: %w", err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		return nil, fmt.Errorf("the key of the Temporal server: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s holds no certificate", filepath.Join(dir, "ca.pem"))
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, RootCAs: pool, ServerName: serverName}, nil
}
