package pipeline_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/system/filetest"
)

// What docs/pipelines.md says that expressions give here, unlike in Terraform, they give.
func TestWhatTerraformDoesOtherwise(t *testing.T) {
	docs, err := os.ReadFile("../../docs/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.txt", ".b.txt"} {
		filetest.Write(t, name, "")
	}
	_, table, _ := strings.Cut(string(docs), "### What Terraform does otherwise")
	table, _, _ = strings.Cut(table, "\n\n`--var-file")
	rows := regexp.MustCompile("(?m)^\\| `(.*?)` \\| .* \\| (?:`(.*?)`|an error: (.*)).* \\|$").FindAllStringSubmatch(table, -1)
	if len(rows) < 12 || len(rows) != strings.Count(table, "\n| `") {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		got, err := of(t, "jsonencode("+row[1]+")", nil, pipeline.Options{World: pipeline.World{List: language.List}})
		if fails := row[3]; fails != "" && (err == nil || !strings.Contains(err.Error(), fails)) || fails == "" && (err != nil || got != row[2]) {
			t.Errorf("%s is %s, %v; docs: %s%s", row[1], got, err, row[2], fails)
		}
	}
}
