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

// stemmers are Snowball's before version 3, as PyStemmer up to 2.2 has them, by its names.
// Snowball 3 cuts some words of most languages otherwise, and its dutch is another algorithm:
// dutch here is its dutch_porter.
var stemmers = map[string]func(string) string{
	"danish": snowball(danish.Stem), "dutch": snowball(dutch.Stem), "english": snowball(english.Stem),
	"finnish": snowball(finnish.Stem), "french": snowball(french.Stem), "german": snowball(german.Stem),
	"italian": snowball(italian.Stem), "norwegian": snowball(norwegian.Stem), "porter": snowball(porter.Stem),
	"portuguese": snowball(portuguese.Stem), "russian": snowball(russian.Stem), "spanish": snowball(spanish.Stem),
	"swedish": snowball(swedish.Stem),
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
