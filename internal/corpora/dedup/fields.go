package dedup

import "github.com/redsi/redsi/internal/corpora/nq"

// field is a part of the header that keys are derived from. Natural Questions
// repeats each title about three times, so that most records need no derivation.
type field uint8

const (
	noField field = iota // a digest, or more than one field
	urlField
	urlTitleField
	h1Field
	titleField
	nFields
)

// field is the one field that k depends on for a record of split s.
func (k *Key) field(s nq.Split, o Options) field {
	switch {
	case k.Needs&NeedsPageID != 0 && o.Fallback == FallbackTitle:
		return noField
	case s == nq.Dev && k.onDev != noField:
		return k.onDev
	}
	return k.on
}

// fields numbers the distinct values of the fields that some key of a pass uses.
type fields struct {
	used   [nFields]bool
	values [nFields]NameTable // all but urlField, which Records numbers
	ids    [nFields]int32     // of the present record; -1: no value
}

func (f *fields) use(k Key, o Options) {
	f.used[k.field(nq.Train, o)], f.used[k.field(nq.Dev, o)] = true, true
}

// set turns to the record of d, whose URL has number url.
func (f *fields) set(d *derived, url int32) {
	f.ids = [nFields]int32{noField: -1, urlField: url, urlTitleField: -1, titleField: -1}
	if f.used[urlTitleField] {
		if t, ok := d.readTitle(); ok {
			f.ids[urlTitleField], _ = f.values[urlTitleField].Add(t)
		}
	}
	if f.used[h1Field] {
		f.ids[h1Field], _ = f.values[h1Field].Add(d.h.H1)
	}
	if f.used[titleField] && d.h.Title != "" { // without one the key depends on the URL
		f.ids[titleField], _ = f.values[titleField].Add(d.h.Title)
	}
}

// entry is the place for the present record's value of field in a table by field
// and value number, nil if the record has no value there.
func (f *fields) entry(table [][]int32, in field) *int32 {
	id := int(f.ids[in])
	if id < 0 {
		return nil
	}
	for len(table[in]) <= id {
		table[in] = append(table[in], 0)
	}
	return &table[in][id]
}
