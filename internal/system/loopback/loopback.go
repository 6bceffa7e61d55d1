// Package loopback tells requests of a person's own programs to a server of this machine from requests that a web page
// makes in the person's name.
//
// It must not know what is served.
package loopback

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Stranger says why a request is to be refused before it is looked at, and with which status; 0 if it is not. Reasons
// are a name that is not this server's, by which a web page reaches a server on its reader's machine (DNS rebinding); a
// page of another site that asks in its reader's name; and a body, which nothing here reads. The server answers to
// localhost, loopback addresses, the address that the connection came to, and the names in hosts, on any port, since
// tunnels have their own.
func Stranger(r *http.Request, hosts []string) (status int, why string) {
	switch {
	case !isHost(r, hosts):
		return http.StatusMisdirectedRequest, fmt.Sprintf("this server does not answer to the name %q, only to %s and its own address",
			name(r.Host), strings.Join(append([]string{"localhost"}, hosts...), ", "))
	case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
		return http.StatusForbidden, "pages of other sites may link to this server, but not query it"
	case r.ContentLength != 0:
		return http.StatusRequestEntityTooLarge, "requests to this server have no body"
	}
	return 0, ""
}

func isHost(r *http.Request, hosts []string) bool {
	host := name(r.Host)
	if strings.EqualFold(host, "localhost") || slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip = ip.Unmap(); ip.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.AddrPort().Addr().Unmap().WithZone("") == ip.WithZone("")
}

// name returns the name in a Host header, without port and brackets.
func name(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

// FreeAddress returns 127.0.0.1 with a port that the system gives to nobody for a minute, since a connection on it is in
// TIME_WAIT. Whoever asks for the port by number gets it.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return "", err
	}
	in, err := l.Accept()
	if err != nil {
		out.Close()
		return "", err
	}
	in.Close() // first, so that the port's side waits
	out.Close()
	return l.Addr().String(), nil
}
