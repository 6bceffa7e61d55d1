package python

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		"#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n\nx=1  # one\r\n\r\n":                     "x = 1\n",
		"def f(a,\n      # why\n\n      b):\n    '''doc # not'''\n\n    return a \\\n        + b\n": "def f ( a , b ) :\n\t'''doc # not'''\n\treturn a + b\n",
		"x = 1 + \\\n\ny = 2\n":                                        "x = 1 +\ny = 2\n",
		"\ufeffif a:\r\n\tif b:\r\n\t\tc\r\nd":                         "if a :\n\tif b :\n\t\tc\nd\n",
		"s = r'\\'; t = rb\"#\" # c\n":                                 "error: line 1: the string that begins here has no end",
		"s = r'\\\\'; t = rb\"#\" # c\n":                               "s = r'\\\\' ; t = rb\"#\"\n",
		"f'{x!r:>{w}} {{#}} {d[\"k\"]}' # c\n":                         "f'{x!r:>{w}} {{#}} {d[\"k\"]}'\n",
		"f\"{d[\"k\"]:%H:%M #}{x!=y}\\N{DASH}\" # c\n":                 "f\"{d[\"k\"]:%H:%M #}{x!=y}\\N{DASH}\"\n",
		"f'''{\nx # {\n}''' # c\n":                                     "f'''{\nx # {\n}'''\n",
		"a=1e-5+0x1f-1_0j if(y:=3)else 1..real@b;print(*a,**b)->...\n": "a = 1e-5 + 0x1f - 1_0j if ( y := 3 ) else 1..real @ b ; print ( * a , ** b ) -> ...\n",
		"# nothing\n\n":                                                "",
		"x = (1,\n\n":                                                  `error: line 1: '(' is never closed`,
		"x = [1)\n":                                                    `error: line 1: ')' closes nothing`,
		"y\n'''x\n\n":                                                  "error: line 2: the string that begins here has no end",
		"if a:\n    b\n  c\n":                                          "error: line 3: the indentation fits no block around it",
		"x = $y\n":                                                     "error: line 1: '$' is not Python",
		"x = f'{y'\n":                                                  "error: line 1: ",
	} {
		got, err := Normal(text)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want && !(strings.HasSuffix(want, ": ") && strings.HasPrefix(got, want)) {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
		if again, err := Normal(got); !strings.HasPrefix(want, "error") && (err != nil || again != got) {
			t.Errorf("%q: the normal form of its normal form is %q, %v", text, again, err)
		}
	}
}

func TestEncoded(t *testing.T) {
	for text, want := range map[string]bool{
		"# -*- coding: latin-1 -*-\nx": true, "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n": true,
		"# coding: UTF_8\n# coding: latin-1\n": false, "# coding: utf-8-sig\n": false, "x = 1\n# coding: latin-1\n": false, "\n\n# coding: latin-1\n": false, "": false,
	} {
		testkit.Is(t, Encoded(text), want, text)
	}
}

func TestImports(t *testing.T) {
	const text = `
import a.b as c, d
from . import x, y as z
from ...pkg . mod import (p, # why
    q,)
try: import e
except ImportError: from f import *
if TYPE_CHECKING:
    from g import h; import i
def f():
    yield from j
    raise K from k
    s = "import l"
    importlib.import_module("m.n"), __import__('o'), import_module(name), import_module(f"r")
__all__ = ["s", 't']
`
	list, all, err := Imports(text)
	var got []string
	for _, i := range list {
		got = append(got, fmt.Sprintf("%s%s%s %v", strings.Repeat(".", i.Level), i.Module, map[bool]string{true: "*"}[i.Star], i.Names))
	}
	want := `a.b []
d []
. [x y]
...pkg.mod [p q]
e []
f* []
g [h]
i []
m.n []
o []`
	if s := strings.Join(got, "\n"); err != nil || s != want || !slices.Equal(all, []string{"s", "t"}) {
		t.Errorf("got %v\n%s\nand %q", err, s, all)
	}
	for text, want := range map[string]string{
		"import\n": "line 1: this is no import statement of Python: import", "x\nfrom a b\n": "line 2: this is no import statement of Python: from a b",
		"from a import\n": "line 1: ", "import a as 1\n": "line 1: ", "import a b\n": "line 1: ", "from . . import x,\n": "", "from a import (x as y)\n": "",
	} {
		if _, _, err := Imports(text); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestClosure(t *testing.T) {
	files := map[string]string{
		"src/fit.py":              "import helper, numpy, os\nfrom models import linear\nfrom pkg.sub.deep import f\nimport far.away\nfrom all import *\nimport random\n",
		"src/helper.py":           "import fit # a circle\n",
		"src/models/linear.py":    "from . import base\nfrom .. import nothing\n", // no __init__.py
		"src/models/base.py":      "x = 1\n",
		"src/pkg/__init__.py":     "",
		"src/pkg/sub/__init__.py": "from ..other import y\n",
		"src/pkg/sub/deep.py":     "f = 1\n",
		"src/pkg/other.py":        "y = 1\n",
		"src/pkg/unused.py":       "",
		"src/all/__init__.py":     "__all__ = ['one']\n",
		"src/all/one.py":          "",
		"src/all/two.py":          "",
		"src/random.py":           "# in front of Python's own\n",
		"src/plots.py":            "import (",
		"lib/far/away.py":         "",
		"lib/helper.py":           "is shadowed",
	}
	read := func(name string) (string, bool, error) { text, ok := files[name]; return text, ok, nil }
	got, err := Closure("src/fit.py", files["src/fit.py"], nil, []string{"src", "lib"}, read)
	want := "lib/far/away.py src/all/__init__.py src/all/one.py src/fit.py src/helper.py src/models/base.py src/models/linear.py src/pkg/__init__.py src/pkg/other.py src/pkg/sub/__init__.py src/pkg/sub/deep.py src/random.py"
	if s := strings.Join(slices.Sorted(maps.Keys(got)), " "); err != nil || s != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, s, want)
	}
	files["src/theme.py"], files["src/unread.py"] = "x = 1\n", "x = 1\n"
	more := map[string]string{"plugins/a.py": "import theme\n", "plugins/b.py": "import (", "plugins/c.txt": "import unread\n"}
	got, err = Closure("src/all/two.py", "", more, []string{"src"}, read)
	if s := strings.Join(slices.Sorted(maps.Keys(got)), " "); err != nil || s != "plugins/a.py src/all/two.py src/theme.py" {
		t.Errorf("with more: %v, %s", err, s)
	}
	files["src/helper.py"] = "\nimport (\n"
	if _, err := Closure("src/fit.py", files["src/fit.py"], nil, []string{"src"}, read); err == nil || !strings.HasPrefix(err.Error(), "src/helper.py: line 2: ") {
		t.Errorf("got %v", err)
	}
}

// What counts of a notebook are its code cells and what nbclient heeds.
func TestNotebook(t *testing.T) {
	const text = `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"language": "python"}}, "cells": [
{"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Title\n", "text"]},
{"cell_type": "code", "id": "b", "metadata": {"tags": ["x"]}, "execution_count": 3, "outputs": [{"output_type": "stream"}], "source": ["%matplotlib inline\n", "import helper # why\n", "x = !ls\n", "from m import (y,\n", "  z)"]},
{"cell_type": "code", "id": "c", "metadata": {}, "execution_count": null, "outputs": [], "source": "%%bash\nimport no"},
{"cell_type": "code", "id": "e", "metadata": {}, "execution_count": null, "outputs": [], "source": "%%capture\n%%time\nimport slow"},
{"cell_type": "code", "id": "d", "metadata": {}, "execution_count": null, "outputs": [], "source": "print('#'"}]}`
	normal := func(text string) string {
		n, err := ParseNotebook(text)
		testkit.None(t, err)
		return n.Normal()
	}
	for _, c := range []struct {
		old, now string
		same     bool
	}{
		{"# Title", "# Other", true}, {"# why", "", true}, {`"execution_count": 3`, `"execution_count": 4`, true}, {`"id": "b"`, `"id": "z"`, true}, {`["x"]`, `["y"]`, true}, {`{"output_type": "stream"}`, "", true},
		{`["x"]`, `["skip-execution"]`, false}, {"%matplotlib inline", "%matplotlib agg", false}, {"!ls", "!ls -l", false}, {"import no", "import yes", false}, {"print('#'", "print('#')", false}, {"  z)", "  zz)", false},
	} {
		if other := strings.Replace(text, c.old, c.now, 1); (normal(other) == normal(text)) != c.same || other == text {
			t.Errorf("%s for %s: the same is %v", c.now, c.old, !c.same)
		}
	}
	got, err := Closure("nb/a.ipynb", text, nil, []string{"nb"}, func(name string) (string, bool, error) {
		files := map[string]string{"nb/a.ipynb": text, "nb/helper.py": "", "nb/m/z.py": "", "nb/no.py": "", "nb/slow.py": ""}
		s, ok := files[name]
		return s, ok, nil
	})
	if names := strings.Join(slices.Sorted(maps.Keys(got)), " "); err != nil || names != "nb/a.ipynb nb/helper.py nb/m/z.py nb/slow.py" {
		t.Errorf("made of %s, %v", names, err)
	}
	bare, err := Bare(text)
	if err != nil || strings.Contains(bare, "stream") || strings.Contains(bare, `"execution_count":3`) || normal(bare) != normal(text) {
		t.Errorf("bare: %s %v", bare, err)
	}
	for text, want := range map[string]string{
		"{": "it is not a notebook", `{"nbformat": 3}`: "format 3", `{"nbformat": 4, "cells": []}`: "no cells", `{"nbformat": 4, "metadata": {"kernelspec": {"language": "R"}}, "cells": [{}]}`: "its cells are R",
		`{"nbformat": 4, "metadata": {"kernelspec": {"name": "ir", "display_name": "R"}, "language_info": {"name": "R"}}, "cells": [{}]}`: "its cells are R", // Colab's
		`{"nbformat": 4, "metadata": {"kernelspec": {"name": "ir"}}, "cells": [{}]}`:                                                      "its cells are R",
		`{"nbformat": 4, "metadata": {"kernelspec": {"name": "julia-1.10"}}, "cells": [{}]}`:                                              "its cells are Julia",
		`{"nbformat": 4, "metadata": {"language_info": {"name": "julia"}}, "cells": [{}]}`:                                                "its cells are julia",
	} {
		testkit.ErrSays(t, testkit.Err(ParseNotebook(text)), want)
	}
}
