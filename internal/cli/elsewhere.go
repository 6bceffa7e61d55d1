package cli

import (
	"net/url"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
)

// sayElsewhere says which blobs are not in the store but elsewhere.
func (a *app) sayElsewhere(all []artifacts.Elsewhere) {
	if len(all) == 0 {
		return
	}
	var bytes int64
	var hosts []string
	for _, e := range all {
		bytes += e.Size
		if u, err := url.Parse(e.URL); err == nil && !slices.Contains(hosts, u.Host) {
			hosts = append(hosts, u.Host)
		}
	}
	slices.Sort(hosts)
	at := strings.Join(hosts[:min(len(hosts), hostsShown)], ", ")
	if n := len(hosts) - hostsShown; n > 0 {
		at += " and " + view.Count(n, "other host")
	}
	if len(all) == 1 {
		view.Printf(a.Out, "1 blob of %s is not here: it is at %s and is fetched when read\n", view.Size(bytes), at)
		return
	}
	view.Printf(a.Out, "%s of %s are not here: they are at %s and are fetched when read\n", view.Count(len(all), "blob"), view.Size(bytes), at)
}

// hostsShown is how many hosts are named in a line.
const hostsShown = 5
