package main

import (
	"encoding/base64"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"
)

// listenUI listens at a port or, without one, at the last one or a free one.
func listenUI(port int, last string) (net.Listener, string, error) {
	ports := []int{port}
	if port == 0 {
		ports = []int{portOf(last), 0}
	}
	var err error
	for _, p := range ports {
		var l net.Listener
		if l, err = net.Listen("tcp", hostPort(loopback, p)); err == nil {
			return l, "http://" + l.Addr().String(), nil
		}
	}
	return nil, "", err
}

// webUI returns Temporal's web UI for the server at address. Its certificate lets it only read, so nothing can be
// started or changed by its port.
func webUI(address string, k *keys) (http.Handler, error) {
	c, err := config.NewConfigProviderWithRefresh(&config.Config{
		TemporalGRPCAddress: address,
		TLS: config.TLS{CaData: base64.StdEncoding.EncodeToString(k.caPEM), CertData: base64.StdEncoding.EncodeToString(k.uiCert),
			KeyData: base64.StdEncoding.EncodeToString(k.uiKey), ServerName: serverName, EnableHostVerification: true},
		EnableUI: true, DefaultNamespace: namespace, DisableWriteActions: true, HideLogs: true,
		DisableNewsFetch: true, // its pages ask nobody but this server
	})
	if err != nil {
		return nil, err
	}
	assets, err := ui.Assets()
	if err != nil {
		return nil, err
	}
	if assets, err = fs.Sub(assets, "local"); err != nil {
		return nil, err
	}
	e := echo.New()
	e.Use(middleware.Recover(), middleware.Gzip(), middleware.Secure())
	route.SetHealthRoute(e)
	if err := route.SetAPIRoutes(e, c, nil); err != nil {
		return nil, err
	}
	if err := route.SetUIRoutes(e, "", assets, c); err != nil {
		return nil, err
	}
	route.SetRenderRoute(e, "")
	return guard(e), nil
}

// query is the only path that is asked by POST and changes nothing.
var query = regexp.MustCompile(`^/api/v1/namespaces/[^/%]+/workflows/[^/]+(/runs/[^/]+)?/query/[^/]+$`)

// stepID is the only id in such a path that has slashes: the workflow's of a step that is cut into parts,
// step/EXECUTION/NUMBER.
var stepID = regexp.MustCompile(`/workflows/step%2[Ff][0-9A-Za-z-]+%2[Ff][0-9]+/`)

func isQuery(path string) bool {
	path = stepID.ReplaceAllString(path, "/workflows/step/")
	return query.MatchString(path) && !strings.Contains(strings.ToLower(path), "%2f")
}

// guard answers only browsers that were sent to this machine by name or number. It refuses foreign names that lead here
// (DNS rebinding), pages of other origins, and requests that change something.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.EscapedPath(); {
		case !local(r.Host):
			http.Error(w, "this UI is reached only as 127.0.0.1 or localhost", http.StatusForbidden)
		case !sameOrigin(r):
			http.Error(w, "this UI answers only its own pages", http.StatusForbidden)
		case r.Method == http.MethodGet, r.Method == http.MethodHead,
			r.Method == http.MethodPost && isQuery(path):
			next.ServeHTTP(w, r)
		default:
			http.Error(w, "this UI is read-only; use redsi, or the temporal program with the profile in temporal.toml", http.StatusMethodNotAllowed)
		}
	})
}

// local reports whether HOST or HOST:PORT is this machine, named so.
func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

// sameOrigin reports whether a request comes from a page of this UI, or from no page.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		return site == "" || site == "same-origin" || site == "none" || r.Header.Get("Sec-Fetch-Mode") == "navigate"
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}
