package bm25

import (
	"maps"
	"slices"

	"github.com/blevesearch/go-porterstemmer"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// stemmers by PyStemmer's names are Snowball's before version 2, which its versions 2 and PyStemmer 2 equal but in
// Finnish, French and Russian, and with digits in Danish. Those whose names end with 3 are Snowball's of version 3,
// where it stems otherwise; dutch_porter is its name for what dutch was before.
var stemmers = map[string]func(string) string{
	"danish": snowball(danish.Stem), "dutch": snowball(dutch.Stem), "english": snowball(english.Stem),
	"finnish": snowball(finnish.Stem), "french": snowball(french.Stem), "german": snowball(german.Stem),
	"italian": snowball(italian.Stem), "norwegian": snowball(norwegian.Stem), "porter": snowball(porter.Stem),
	"portuguese": snowball(portuguese.Stem), "russian": snowball(russian.Stem), "spanish": snowball(spanish.Stem),
	"swedish": snowball(swedish.Stem),

	"danish3": danish3, "dutch3": dutch3, "dutch_porter": snowball(dutch.Stem), "english3": english3, "finnish3": finnish3,
	"french3": french3, "german3": german3, "italian3": italian3, "norwegian3": norwegian3, "russian3": russian3,
	"spanish3": spanish3, "swedish3": swedish3,
}

// Stemmers lists the stemmers of Words.
func Stemmers() []string { return slices.Sorted(maps.Keys(stemmers)) }

func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(word string) string {
		env := snowballstem.NewEnv(word)
		stem(env)
		return env.Current()
	}
}

// porterStem is Lucene's PorterStemFilter. Words that are nothing but an ending are those
// where the library differs from it.
func porterStem(word string) string {
	switch word {
	case "eed", "eeds":
		return "eed"
	case "ies":
		return "i"
	case "sses":
		return "ss"
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(word)))
}
