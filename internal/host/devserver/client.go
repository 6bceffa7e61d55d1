package devserver

import (
	"cmp"
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

// ClientOptions says how to call the server. A lost connection is replaced by one to the folder's present server, which
// is started if there is none: retried calls, such as polls and waits, survive the death of a server.
func (s *Server) ClientOptions() (client.Options, error) {
	return optionsOf(s.o.Dir, "client", s.Address, time.Minute, s.ensure)
}

// LookOptions says how to call the server of a folder without keeping it alive or starting it.
func LookOptions(dir string, i Info) (client.Options, error) {
	return optionsOf(dir, "client", i.Address, 0, func(context.Context) (Info, error) { return reach(dir) })
}

// optionsOf are options with the certificate of a name; each connection goes to the server that find gives then.
func optionsOf(dir, name, address string, first time.Duration, find func(context.Context) (Info, error)) (client.Options, error) {
	t, err := clientTLS(dir, name)
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		i, err := find(ctx)
		if err != nil {
			return nil, err
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", i.Address)
	}
	return client.Options{HostPort: address, Namespace: "default", ConnectionOptions: client.ConnectionOptions{
		TLS: t, DialOptions: []grpc.DialOption{grpc.WithContextDialer(dial)}, GetSystemInfoTimeout: first}}, err
}

// clientTLS reads the certificates that a server of the folder has written for clients of a name.
func clientTLS(dir, name string) (*tls.Config, error) {
	dir = filepath.Join(dir, "tls")
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"))
	ca, unread := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err = cmp.Or(err, unread); err != nil {
		return nil, fmt.Errorf("the key of the Temporal server: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s holds no certificate", filepath.Join(dir, "ca.pem"))
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, RootCAs: pool,
		ServerName: "redsi-temporal"}, nil // as tools/temporal-server has it in the server's certificate
}
