package artifacts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// aboutFormat is the form of the record "about/<hex key>", which lists the records about a
// key for those who can read a store only by name, as one on a static host:
//
//	{"format":"redsi-about/1","records":["signatures/<hex key>/<key id>",…]}
const aboutFormat = "redsi-about/1"

// maxAbout bounds the records about a key that are read from others.
const maxAbout = 1000

type aboutList struct {
	Format  string   `json:"format"`
	Records []string `json:"records"`
}

// ListAbout writes, for each of keys, the record that lists what is said about its result:
// a store that will be served as files by a static host needs it, and no other does.
func ListAbout(ctx context.Context, s Store, keys []Digest) error {
	all, err := aboutOf(ctx, s.Records, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if len(all[key]) == 0 {
			continue
		}
		if err := PutJSON(ctx, s.Records, aboutPrefix+key.Hex(), aboutList{aboutFormat, all[key]}); err != nil {
			return fmt.Errorf("list what is said about %s: %w", key, err)
		}
	}
	return nil
}

// listEach is up to how many keys are asked for one by one: for more, all is listed once.
const listEach = 16

// aboutOf lists the records about keys.
func aboutOf(ctx context.Context, records RecordReader, keys []Digest) (map[Digest][]string, error) {
	wanted := lists.Set(keys)
	found := map[Digest][]string{}
	for _, k := range kinds {
		if !k.listed {
			continue
		}
		prefix := k.prefix
		lists := []string{prefix}
		if len(wanted) <= listEach {
			lists = nil
			for key := range wanted {
				lists = append(lists, prefix+key.Hex()+"/")
			}
		}
		for _, list := range lists {
			for info, err := range records.List(ctx, list) {
				if err != nil {
					return nil, err
				}
				if key, ok := keyOf(info.Name, prefix); ok && wanted[key] {
					found[key] = append(found[key], info.Name)
				}
			}
		}
	}
	return found, nil
}

// about lists the records about a key in a tier: by a listing where there is one,
// else as the record about/<key> says. Where neither answers there are none: what they say
// is never what makes a result one.
func (t *tier) about(ctx context.Context, key Digest) []string {
	if t.away("") != nil {
		return nil
	}
	if all, err := aboutOf(ctx, t.records, []Digest{key}); err == nil { // many let nobody list
		return all[key][:min(len(all[key]), maxAbout)]
	}
	b, err := t.Get(ctx, aboutPrefix+key.Hex())
	if err != nil {
		return nil
	}
	var list aboutList
	if json.Unmarshal(b, &list) != nil || list.Format != aboutFormat || len(list.Records) > maxAbout {
		return nil
	}
	return slices.DeleteFunc(list.Records, func(name string) bool {
		k, ok := isAbout(name)
		return !ok || k != key || strings.HasPrefix(name, aboutPrefix) || checkRecordName(name) != nil
	})
}
