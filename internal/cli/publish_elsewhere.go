package cli

import (
	"net"
	"net/url"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/fetch"
	"github.com/redsi/redsi/internal/plan"
)

// addressesOf says where the blobs lie that steps of a plan download, as far as a reader
// can have them from there: by https, under an address without a secret, with a digest.
func addressesOf(pl *plan.Plan) (map[artifacts.Digest]string, error) {
	sources, err := pinnedSources(pl)
	if err != nil {
		return nil, err
	}
	found := map[artifacts.Digest]string{}
	for _, s := range sources {
		d, err := artifacts.ParseHex(s.SHA256)
		if err != nil {
			continue
		}
		src, err := fetch.ParseSource(s.Source)
		if err == nil && public(src.URL) {
			found[d] = src.URL
		}
	}
	return found, nil
}

// public reports whether an address may be told to readers. Plain http is for servers on
// the same machine.
func public(address string) bool {
	u, err := url.Parse(address)
	if err != nil || address == "" || fetch.Redact(address) != address {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && ip != nil && ip.IsLoopback()
}
