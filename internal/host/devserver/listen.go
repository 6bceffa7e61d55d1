package devserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/internal/system/lists"
)

// ErrListen says that the server cannot listen on the wanted address.
var ErrListen = errors.New("cannot listen there")

// addressOf returns this machine's address for a name or address: the first that others may reach, IPv4 before IPv6.
func addressOf(ctx context.Context, host string) (string, error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", fmt.Errorf("%s: %w: %w; this machine has %s", host, ErrListen, err, ownAddresses())
	}
	found = lists.Map(found, netip.Addr.Unmap)
	_, notName := netip.ParseAddr(host)
	for _, ip := range append(lists.Filter(found, netip.Addr.Is4), found...) {
		if ip.IsUnspecified() || ip.IsLoopback() && notName != nil {
			continue
		}
		if l, err := net.Listen("tcp", netip.AddrPortFrom(ip, 0).String()); err == nil {
			return ip.String(), l.Close()
		}
	}
	return "", fmt.Errorf("%s: %w: it means %s, which is no one address of this machine that others can reach; it has %s",
		host, ErrListen, words(found), ownAddresses())
}

// ownAddresses lists the addresses at which other machines may reach this one.
func ownAddresses() string {
	var own []netip.Addr
	all, _ := net.InterfaceAddrs() // none
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().IsGlobalUnicast() {
			own = append(own, p.Addr())
		}
	}
	if len(own) == 0 {
		return "none"
	}
	return words(own)
}

func words(ips []netip.Addr) string {
	return strings.Join(lists.Map(slices.Compact(ips), netip.Addr.String), ", ")
}

// ErrNone says that a folder has no server.
var ErrNone = errors.New("no Temporal server runs for this state folder")

// reach says how a caller on this machine reaches the folder's server, if it can.
func reach(dir string) (Info, error) {
	i, err := announced(dir)
	o, other := elsewhere(dir, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return i, err
	case err != nil:
		return i, fmt.Errorf("%s: %w", dir, ErrNone)
	case other && i.Listen == "":
		return i, o.error()
	}
	return i, nil
}

// WorkerOptions says how a worker, on any machine that sees the folder, calls its server: with the certificate that may
// do only what workers do. A lost connection is replaced by one to the folder's present server; none is started for it,
// and none stays because of it.
func WorkerOptions(dir string) (client.Options, error) {
	i, err := reach(dir)
	if err != nil {
		return client.Options{}, err
	}
	return optionsOf(dir, "worker", i.Address, 20*time.Second, func(context.Context) (Info, error) { return reach(dir) })
}
