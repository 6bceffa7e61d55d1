package serialize

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		form   Form
		change func(*Options)
		tools  Tools
		want   string
	}{
		{"plain", nil, tools, "no form"},
		{HtmlNorm, nil, Tools{}, "T5"},
		{HtmlNorm, func(o *Options) { o.Pronunciation = "keep" }, Tools{}, ""},
		{NciNorm, nil, Tools{}, ""},
		{NciNorm, func(o *Options) { o.NCINormalizeTitle = true }, Tools{}, "BERT"},
		{SimpleNorm, nil, Tools{}, ""},
		{Simplified, nil, Tools{}, ""},
	} {
		o := Defaults()
		if tt.change != nil {
			tt.change(&o)
		}
		_, err := New(tt.form, o, tt.tools)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.form, err, tt.want)
		}
	}
}

func TestRecordsWithoutWhatAFormNeeds(t *testing.T) {
	for _, tt := range []struct {
		form   Form
		record *nq.Record
		want   string
	}{
		{HtmlNorm, &nq.Record{ExampleID: 7, Text: "a"}, "example 7"},
		{HtmlNorm, &nq.Record{ExampleID: 7, Tokens: make([]nq.Token, 1)}, "no document_html"},
		{Simplified, &nq.Record{ExampleID: 7}, "neither"},
		{NciNorm, &nq.Record{ExampleID: 7}, "neither"},
		{SimplifiedTags, &nq.Record{ExampleID: 7}, "neither"},
	} {
		testkit.ErrSays(t, testkit.Err(newSerializer(t, tt.form, nil).Document(tt.record)), tt.want)
	}
}

func TestTally(t *testing.T) {
	var got Tally
	got.Add(Removed{Interface: 2, Infobox: 3, Infoboxes: 1, Footer: "See also:", Pronunciation: "(ˈ)"})
	got.Add(Removed{Interface: 1, Footer: "See Also", NoTitle: true, NoAbstract: true, Truncated: true})
	got.Add(Removed{})
	want := Tally{Documents: 3, Sum: Removed{Interface: 3, Infobox: 3, Infoboxes: 1}, WithInfobox: 1, WithFooter: 2,
		WithPronunciation: 1, WithoutTitle: 1, WithoutAbstract: 1, WithTruncation: 1, Footers: map[string]int{"see also": 2}}
	testkit.Deep(t, got, want)
	const text = `{"documents":3,"sum":{"interface":3,"infobox":3,"infoboxes":1},"with_infobox":1,"with_footer":2,` +
		`"with_pronunciation":1,"without_title":1,"without_abstract":1,"with_truncation":1,"footers":{"see also":2}}`
	if b, err := json.Marshal(got); err != nil || string(b) != text {
		t.Errorf("%s, %v", b, err)
	}
}
