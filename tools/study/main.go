package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	from := flag.String("html", "", "folder of the manual's HTML, with bookindex.html")
	to := flag.String("out", "", "folder for the collection's files")
	only := flag.String("only", "", "only documents whose names begin so, and queries for them alone; files are not compressed")
	flag.Parse()
	if *from == "" || *to == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*from, *to, *only); err != nil {
		fmt.Fprintln(os.Stderr, "study:", err)
		os.Exit(1)
	}
}

func run(from, to, only string) error {
	b, err := readBook(from)
	if err != nil {
		return err
	}
	entries, err := b.readIndex()
	if err != nil {
		return err
	}
	c := b.collect(entries, b.readReferences())
	if only != "" {
		return c.below(only).write(to, false)
	}
	return c.write(to, true)
}
