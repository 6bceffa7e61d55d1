package prose

import "strings"

// literal are environments whose text is not prose.
var literal = map[string]bool{"verbatim": true, "Verbatim": true, "BVerbatim": true, "lstlisting": true, "minted": true, "comment": true,
	"filecontents": true, "alltt": true, "thebibliography": true, "luacode": true}

// floats are environments with a label of their own.
var floats = map[string]bool{"table": true, "figure": true, "wraptable": true, "wrapfigure": true, "sidewaystable": true, "sidewaysfigure": true, "longtable": true}

// tabulars are table environments, with their arguments.
var tabulars = map[string]string{"tabular": "om", "tabularx": "mom", "tabulary": "mom", "array": "om", "longtable": "om", "tblr": "om", "supertabular": "m", "tabu": "m", "NiceTabular": "om"}

// pictures are environments in which only coordinates are data.
var pictures = map[string]bool{"tikzpicture": true, "pgfpicture": true, "picture": true}

// environments are the arguments of other environments.
var environments = map[string]string{"minipage": "oom", "wraptable": "omm", "wrapfigure": "omm", "multicols": "m", "adjustbox": "m", "subfigure": "om", "subtable": "om",
	"tcolorbox": "o", "thebibliography": "m", "spacing": "m", "list": "mm", "scope": "o", "axis": "o", "tablenotes": "o"}

// begin reads the beginning of an environment at i, whose name is at k.
func (s *scan) begin(i, k, end int) (int, error) {
	from, to, ok := s.group(k, end)
	if !ok {
		return k, nil
	}
	full := s.src[from:to]
	name := strings.TrimSuffix(full, "*")
	k = to + 1
	if literal[name] {
		if n := strings.Index(s.src[k:end], `\end{`+full+`}`); n >= 0 {
			return k + n + len(`\end{`) + len(full) + 1, nil
		}
		return end, nil
	}
	if floats[name] {
		s.emit(string(parEnd), i)
		s.mark(floatBegin, name, i)
	}
	signature, isTable := tabulars[name]
	switch {
	case isTable:
		if full == "tabular*" {
			signature = "mom"
		}
		s.mark(tableBegin, name, i)
		return s.skip(signature, k, end), nil
	case pictures[name]:
		s.tikz++
		return s.option(s.skipBlanks(k, end), end), nil
	}
	if signature, ok := environments[name]; ok {
		return s.skip(signature, k, end), nil
	}
	return s.option(k, end), nil
}

func (s *scan) closes(name string, i int) {
	if _, ok := tabulars[name]; ok {
		s.emit(string(rowEnd), i)
		s.mark(tableEnd, name, i)
	}
	if floats[name] {
		s.emit(string(parEnd), i)
		s.mark(floatEnd, name, i)
	}
	if pictures[name] && s.tikz > 0 {
		s.tikz--
	}
}
