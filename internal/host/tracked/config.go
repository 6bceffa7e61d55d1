package tracked

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/ini.v1"

	"github.com/redsi/redsi/internal/stores/open"
)

// find reads DVC's configuration files: the user's, the project's, and the project's for this machine.
func (d *Data) find() error {
	if d.root == "" {
		return d.wrong("no folder around it has .dvc, which says where the bytes are: run the step in DVC's project, or name a store that has its result")
	}
	set := map[string]string{}
	user, _ := os.UserConfigDir() // which need not exist
	for _, file := range []string{
		filepath.Join(cmp.Or(os.Getenv("DVC_GLOBAL_CONFIG_DIR"), filepath.Join(user, "dvc")), "config"),
		filepath.Join(d.root, ".dvc", "config"), filepath.Join(d.root, ".dvc", "config.local"),
	} {
		f, err := ini.LoadSources(ini.LoadOptions{Loose: true, KeyValueDelimiters: "="}, file)
		if err != nil {
			return d.wrong("%s cannot be read: %v", file, err)
		}
		for _, s := range f.Sections() {
			for key, v := range s.KeysHash() {
				if (key == "url" || key == "dir") && !strings.Contains(v, "://") && !filepath.IsAbs(v) {
					v = filepath.Join(filepath.Dir(file), v)
				}
				set[strings.Trim(s.Name(), "'")+"."+key] = v
			}
		}
	}
	d.cache = cmp.Or(set["cache.dir"], filepath.Join(d.root, ".dvc", "cache"))
	of := cmp.Or(d.Remote, set["core.remote"])
	if of == "" {
		d.address = "a remote, since none is the default"
		return nil
	}
	option := func(key string) string { return set[fmt.Sprintf("remote %q.%s", of, key)] }
	d.address = option("url")
	address := d.address
	if strings.HasPrefix(address, "s3://") {
		q := url.Values{"endpoint": {option("endpointurl")}, "region": {option("region")}, "anonymous": {option("allow_anonymous_login")}}
		maps.DeleteFunc(q, func(_ string, v []string) bool { return v[0] == "" })
		address += "?" + q.Encode()
	}
	files, err := open.Files(address)
	d.remote = func(ctx context.Context, name string) (io.ReadCloser, error) {
		if err != nil {
			return nil, d.wrong("DVC's cache lacks it, and the remote %s, %s, cannot be read here: %v; run dvc fetch %s", of, d.address, err, d.Path)
		}
		return files(ctx, name)
	}
	return nil
}
