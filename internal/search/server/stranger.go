package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// stranger says why a request is refused before it is looked at: it was made to a
// name that is not this server's, which is how a web page reaches a server on its
// reader's machine (DNS rebinding); a page of another site asks in its reader's name;
// or it has a body, which nothing here reads.
func (o Options) stranger(r *http.Request) *problem {
	switch {
	case !o.isHost(r):
		return &problem{Status: http.StatusMisdirectedRequest, Message: fmt.Sprintf(
			"this server does not answer to the name %q, only to %s and its own address; redsi serve --allow-host NAME adds one",
			host(r.Host), strings.Join(append([]string{"localhost"}, o.Hosts...), ", "))}
	case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
		return &problem{Status: http.StatusForbidden, Message: "pages of other sites may link to this server, not ask it"}
	case r.ContentLength != 0:
		return &problem{Status: http.StatusRequestEntityTooLarge, Message: "a request has no body here"}
	}
	return nil
}

// isHost reports whether a request names this server: localhost, a loopback address,
// the address that the connection came to, or a name that was allowed. The port does
// not matter: a tunnel has one of its own.
func (o Options) isHost(r *http.Request) bool {
	name := host(r.Host)
	if strings.EqualFold(name, "localhost") || slices.ContainsFunc(o.Hosts, func(h string) bool { return strings.EqualFold(h, name) }) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if ip = ip.Unmap(); ip.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.AddrPort().Addr().Unmap().WithZone("") == ip.WithZone("")
}

// host is the name of a Host header, without port and brackets.
func host(hostport string) string {
	if name, _, err := net.SplitHostPort(hostport); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}
