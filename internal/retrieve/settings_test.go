package retrieve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/docid"
)

func TestSettings(t *testing.T) {
	for _, kind := range docid.Kinds() {
		for _, lowercase := range []bool{false, true} {
			want, folder := Settings{kind, 109_739, 64, lowercase}, t.TempDir()
			if err := want.Write(folder); err != nil {
				t.Fatal(err)
			}
			if got, err := ReadSettings(folder); err != nil || got != want {
				t.Errorf("read %+v, %v; want %+v", got, err, want)
			}
		}
	}
}

func TestSettingsErrors(t *testing.T) {
	for _, c := range []struct {
		settings Settings
		want     string
	}{
		{Settings{"other", 1, 32, true}, `identifiers "other"; one of [atomic naive semantic]`},
		{Settings{docid.KindNaive, 0, 32, true}, "documents 0"},
		{Settings{docid.KindNaive, 1, 1, true}, "max_input 1; at least 2"},
	} {
		folder := t.TempDir()
		if err := c.settings.Write(folder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.settings, err, c.want)
		}
		if _, err := os.Stat(filepath.Join(folder, SettingsFile)); err == nil {
			t.Errorf("%+v was written", c.settings)
		}
	}
	for text, want := range map[string]string{
		"":                        "no redsi.json",
		"{":                       "redsi.json: unexpected end",
		"{}":                      `redsi.json: identifiers ""`,
		`{"identifiers":"naive"}`: "redsi.json: documents 0",
		`{"identifiers":"naive","documents":3,"max_input":0}`: "redsi.json: max_input 0",
		`{"identifiers":"naive","documents":"3"}`:             "redsi.json: json",
	} {
		if _, err := ParseSettings([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := ReadSettings(t.TempDir()); err == nil || !strings.Contains(err.Error(), "train it by a train step") {
		t.Errorf("a model without settings: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSettings(file); err == nil {
		t.Error("a file was read as a folder")
	}
	if err := (Settings{docid.KindNaive, 1, 2, false}).Write(file); err == nil {
		t.Error("settings were written into a file")
	}
}
