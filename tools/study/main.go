package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	from := flag.String("html", "", "folder of the manual's HTML, with bookindex.html")
	to := flag.String("out", "", "folder for the collection's files")
	flag.Parse()
	if *from == "" || *to == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "study:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	b, err := readBook(from)
	if err != nil {
		return err
	}
	entries, err := b.readIndex()
	if err != nil {
		return err
	}
	c := b.collect(entries, b.readReferences())
	return c.write(to)
}
