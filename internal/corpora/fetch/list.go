package fetch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	marks     = "*?{"       // turn a name into a pattern; brackets do not
	metas     = marks + "[" // have a meaning in a pattern
	maxListed = 50_000      // objects that a pattern may stand for: as many as a plan may have steps
)

// gsHost returns Google Cloud Storage's server of public objects, or the server in the variable of Google's clients.
func gsHost() string {
	host := cmp.Or(os.Getenv("STORAGE_EMULATOR_HOST"), "https://storage.googleapis.com")
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	return strings.TrimSuffix(host, "/") + "/"
}

// IsPattern reports whether a source stands for several files: a folder (final slash) or pattern, local or of gs://.
func IsPattern(raw string) bool {
	scheme, _, isURL := strings.Cut(raw, "://")
	return (!isURL || scheme == "gs" || scheme == "file") && (strings.ContainsAny(raw, marks) || strings.HasSuffix(raw, "/"))
}

// SplitPattern returns a gs:// pattern's folder, with its slash, and the pattern below it, by default all names.
func SplitPattern(pattern string) (folder, names string) {
	at := strings.LastIndex(pattern, "/")
	if i := strings.IndexAny(pattern, metas); i >= 0 {
		at = strings.LastIndex(pattern[:i], "/")
	}
	return pattern[:at+1], cmp.Or(pattern[at+1:], "**")
}

// CheckPattern checks a source that IsPattern.
func CheckPattern(pattern string) error {
	folder, names := SplitPattern(pattern)
	bucket, inGS := strings.CutPrefix(folder, "gs://")
	switch {
	case !doublestar.ValidatePattern(names):
		return fmt.Errorf("the pattern %q cannot be read: it has *, ?, [a-z], {a,b} and **", names)
	case inGS && !strings.Contains(bucket, "/"), strings.HasPrefix(bucket, "/"):
		return fmt.Errorf("%q names no bucket: write gs://BUCKET/PATTERN", pattern)
	}
	return nil
}

// List returns a gs:// pattern's objects, sorted, by one request per 1,000 objects with the pattern's beginning.
func List(ctx context.Context, pattern string) (found []string, err error) {
	folder, names := SplitPattern(pattern)
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(folder, "gs://"), "/")
	start := names[:max(0, strings.IndexAny(names, metas))]
	ask := url.Values{"prefix": {prefix + start}, "fields": {"items(name),nextPageToken"}}
	for {
		var got struct {
			Items []struct{ Name string }
			Next  string `json:"nextPageToken"`
		}
		if err := page(ctx, gsHost()+"storage/v1/b/"+url.PathEscape(bucket)+"/o?"+ask.Encode(), &got); err != nil {
			return nil, fmt.Errorf("the files of %s could not be listed: %w", folder, err)
		}
		for _, o := range got.Items {
			name := strings.TrimPrefix(o.Name, prefix)
			switch {
			case strings.HasSuffix(o.Name, "/") || !doublestar.MatchUnvalidated(names, name): // a console's mark of a folder, or a file outside the pattern
			case strings.ContainsAny(name, marks):
				return nil, &Permanent{fmt.Errorf("%s%s has a character of patterns in its name, and cannot be taken", folder, name)}
			default:
				found = append(found, folder+name)
			}
		}
		switch {
		case len(found) > maxListed:
			return nil, &Permanent{fmt.Errorf("%s stands for more than %d files", pattern, maxListed)}
		case got.Next == "" && len(found) == 0:
			return nil, &Permanent{fmt.Errorf("no file of %s fits %s", folder, names)}
		case got.Next == "":
			slices.Sort(found)
			return found, nil
		}
		ask.Set("pageToken", got.Next)
	}
}

// page downloads and decodes a JSON document, with Get's retries.
func page(ctx context.Context, address string, to any) error {
	dir, err := os.MkdirTemp("", "redsi-list-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f, err := Get(ctx, Request{Sources: []Source{{Raw: address, URL: address}}, Partials: dir})
	if err != nil {
		return err
	}
	b, err := os.ReadFile(f.Path)
	if err = errors.Join(err, f.Close()); err == nil {
		err = json.Unmarshal(b, to)
	}
	return err
}
