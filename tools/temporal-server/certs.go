package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/rpc/encryption"
)

// Files of the folder tls, NAME.pem and NAME.key. With client.key one may call the server for anything, with worker.key
// as a worker.
const (
	caName     = "ca"
	clientName = "client"
	workerName = "worker"
)

// serverName is the name in the server's certificate.
const serverName = "redsi-temporal"

// Names in the certificates of callers, for which roles says what they may.
const (
	nameClient = "redsi"  // the user's programs
	nameWorker = "worker" // workers, which other machines may have
	nameSystem = "system" // the server itself
	nameUI     = "ui"     // the web UI, which reads
)

// keys are the folder's certificate authority and its certificates. The server's and its UI's live as long as the process.
type keys struct {
	caPEM  []byte
	pool   *x509.CertPool
	server tls.Certificate
	system tls.Certificate
	uiCert []byte
	uiKey  []byte
	client tls.Certificate
}

// loadKeys reads the folder's certificates, and creates them if they are missing or unusable.
func loadKeys(dir string) (*keys, error) {
	ca, err := readPair(dir, caName)
	for _, name := range []string{clientName, workerName} {
		if err == nil {
			_, err = readPair(dir, name)
		}
	}
	if err != nil {
		if ca, err = makeKeys(dir); err != nil {
			return nil, err
		}
	}
	k := &keys{caPEM: pemOf("CERTIFICATE", ca.Leaf.Raw), pool: x509.NewCertPool()}
	k.pool.AddCert(ca.Leaf)
	if k.client, err = readPair(dir, clientName); err != nil {
		return nil, err
	}
	if k.server, _, _, err = issue(ca, serverName); err != nil {
		return nil, err
	}
	if k.system, _, _, err = issue(ca, nameSystem); err != nil {
		return nil, err
	}
	_, k.uiCert, k.uiKey, err = issue(ca, nameUI)
	return k, err
}

// makeKeys creates the authority and the certificates of the user and of workers, all or none.
func makeKeys(dir string) (tls.Certificate, error) {
	next := dir + ".new"
	if err := errors.Join(os.RemoveAll(next), os.RemoveAll(dir)); err != nil {
		return tls.Certificate{}, err
	}
	if err := os.Mkdir(next, 0o700); err != nil {
		return tls.Certificate{}, err
	}
	var ca tls.Certificate // the first, which signs the others
	for _, c := range [][2]string{{caName, "redsi state folder"}, {clientName, nameClient}, {workerName, nameWorker}} {
		pair, cert, key, err := issue(ca, c[1])
		if err != nil {
			return ca, err
		}
		if c[0] == caName {
			ca = pair
		}
		if err := errors.Join(os.WriteFile(filepath.Join(next, c[0]+".pem"), cert, 0o600), os.WriteFile(filepath.Join(next, c[0]+".key"), key, 0o600)); err != nil {
			return ca, err
		}
	}
	return ca, os.Rename(next, dir)
}

// issue creates a certificate signed by ca or, without ca, an authority.
func issue(ca tls.Certificate, name string) (pair tls.Certificate, certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair, nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return pair, nil, nil, err
	}
	// Whoever has the folder has the keys: dates would protect nothing, and a wrong clock would keep its owner out.
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
	}
	parent, signer := t, any(key)
	if ca.Leaf == nil {
		t.IsCA, t.KeyUsage = true, x509.KeyUsageCertSign
	} else {
		parent, signer = ca.Leaf, ca.PrivateKey
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		if name == serverName {
			t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
			t.DNSNames, t.IPAddresses = []string{serverName, "localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, signer)
	if err != nil {
		return pair, nil, nil, err
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair, nil, nil, err
	}
	certPEM, keyPEM = pemOf("CERTIFICATE", der), pemOf("PRIVATE KEY", pkcs)
	pair, err = tls.X509KeyPair(certPEM, keyPEM)
	return pair, certPEM, keyPEM, err
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func readPair(dir, name string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"))
	if err != nil {
		return pair, fmt.Errorf("%s: %w", dir, err)
	}
	return pair, nil
}

// provider gives the server's parts their TLS: every listener asks for a certificate of this folder's authority, and
// the listeners behind the front end, which check no role, for the server's own.
func (k *keys) provider() encryption.TLSConfigProvider {
	listen := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{k.server},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: k.pool}
	call := k.calling(k.system)
	inner := listen.Clone()
	inner.VerifyConnection = func(s tls.ConnectionState) error {
		if name := s.PeerCertificates[0].Subject.CommonName; name != nameSystem {
			return fmt.Errorf("%q is not the server itself", name)
		}
		return nil
	}
	return &encryption.FixedTLSConfigProvider{InternodeServerConfig: inner, FrontendServerConfig: listen,
		InternodeClientConfig: call, FrontendClientConfig: call}
}

// calling returns the TLS with which the holder of pair calls the server.
func (k *keys) calling(pair tls.Certificate) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, RootCAs: k.pool, ServerName: serverName}
}

// roles says what a caller may do, by the name in its certificate. Callers without a certificate of this folder are
// refused before.
type roles struct{}

func (roles) GetClaims(caller *authorization.AuthInfo) (*authorization.Claims, error) {
	c := &authorization.Claims{}
	if caller.TLSSubject == nil {
		return c, nil
	}
	c.Subject = caller.TLSSubject.CommonName
	switch c.Subject {
	case nameClient, nameSystem:
		c.System = authorization.RoleAdmin
	case nameWorker:
		c.Namespaces = map[string]authorization.Role{namespace: authorization.RoleWriter}
	case nameUI:
		c.System = authorization.RoleReader
	}
	return c, nil
}
