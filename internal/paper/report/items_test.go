package report

import "testing"

// An item is named as it is referred to, without its type, which a module or a key may have too.
func TestItemNames(t *testing.T) {
	for address, want := range map[string]string{
		"table.counts":                   "counts",
		`figure.f["figure.a"]`:           `f["figure.a"]`,
		`module.m["table.x"].table.y`:    `module.m["table.x"].y`,
		"module.stable.module.b.table.y": "module.stable.module.b.y",
	} {
		if it := newItem(0, address); it.Name != want {
			t.Errorf("%s: %s, want %s", address, it.Name, want)
		}
	}
}
