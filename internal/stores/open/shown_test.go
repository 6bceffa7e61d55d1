package open_test

import (
	"testing"

	"github.com/redsi/redsi/internal/stores/open"
)

func TestShown(t *testing.T) {
	for raw, want := range map[string]string{
		"some/folder":                              "some/folder",
		"s3://bucket/p?endpoint=h:9000":            "s3://bucket/p?endpoint=h:9000",
		"s3://user:hunter2@bucket/p":               "s3://bucket/p",
		"s3://bucket?endpoint=user:hunter2@h:9000": "s3://bucket?…",
		"s3://bucket?endpoint=user%3Ahunter2%40h":  "s3://bucket?…",
		"s3://bucket/%zz:hunter2@":                 "s3://…",
	} {
		if got := open.Shown(raw); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}
