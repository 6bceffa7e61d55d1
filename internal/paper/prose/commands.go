package prose

import "strings"

// dropped are commands whose arguments are not text, with their arguments: m in braces, o in brackets. Arguments in
// braces of all other commands are text.
var dropped = map[string]string{
	"cite": "oom", "citep": "oom", "citet": "oom", "citealp": "oom", "citealt": "oom", "citeauthor": "oom", "citeyear": "oom",
	"citeyearpar": "oom", "Citet": "oom", "Citep": "oom", "parencite": "oom", "textcite": "oom", "footcite": "oom", "autocite": "oom",
	"nocite": "m", "pageref": "m", "nameref": "m", "hyperref": "o", "url": "m", "nolinkurl": "m", "href": "om", "path": "m",
	"includegraphics": "om", "bibliography": "m", "bibliographystyle": "m", "addbibresource": "om", "printbibliography": "o",
	"usepackage": "om", "RequirePackage": "om", "documentclass": "om", "usetikzlibrary": "m", "pgfplotsset": "m", "tikzset": "m", "hypersetup": "m",
	"newcommand": "moom", "renewcommand": "moom", "providecommand": "moom", "DeclareMathOperator": "mm", "DeclarePairedDelimiter": "mmm",
	"NewDocumentCommand": "mmm", "RenewDocumentCommand": "mmm", "newenvironment": "moomm", "newcolumntype": "mom", "newif": "m", "let": "mm",
	"setlength": "mm", "addtolength": "mm", "setcounter": "mm", "addtocounter": "mm", "newlength": "m", "vspace": "m", "hspace": "m", "vskip": "", "hskip": "",
	"resizebox": "mm", "scalebox": "mo", "raisebox": "moo", "rule": "omm", "parbox": "ooom", "makebox": "oo", "framebox": "oo", "colorbox": "om", "minipage": "m",
	"color": "om", "textcolor": "om", "definecolor": "mmm", "rowcolor": "om", "cellcolor": "om", "columncolor": "om", "fontsize": "mm", "selectfont": "",
	"cmidrule": "om", "cline": "m", "addlinespace": "o", "specialrule": "mmm", "toprule": "o", "bottomrule": "o",
	"multirow": "omom", "rotatebox": "om", "adjustbox": "m", "captionsetup": "om", "caption": "o", "section": "o", "subsection": "o", "linebreak": "o", "pagebreak": "o",
	"pagestyle": "m", "thispagestyle": "m", "pagenumbering": "m", "renewbibmacro": "mm", "sisetup": "m", "lstset": "m", "thanks": "m", "bibitem": "om",
	"redsinumbers": "m", "graphicspath": "m", "foreach": "", "pgfmathsetmacro": "mm", "setstretch": "m", "enlargethispage": "m", "phantom": "m", "hphantom": "m", "vphantom": "m",
	"DeclareUnicodeCharacter": "mm", "hyphenation": "m", "stepcounter": "m", "refstepcounter": "m", "value": "m", "arabic": "m", "tag": "m", "fbox": "", "index": "m", "gls": "om",
}

var said = map[string]string{
	"%": "%", "&": "&", "#": "#", "_": "_", "$": "$", "{": " ", "}": " ", " ": " ", "\n": " ", "\t": " ",
	",": string(thin), "thinspace": string(thin), ";": " ", ":": " ", "quad": " ", "qquad": " ", "!": "", "-": "", "/": "", "@": "",
	"pm": "±", "times": "×", "cdot": "×", "textendash": "–", "textemdash": "—", "textminus": "−", "ldots": "…", "dots": "…", "par": string(parEnd),
	"textpm": "±", "texttimes": "×", "percent": "%",
}

// fonts are commands that show only their argument, without separating it from the text before it.
var fonts = map[string]bool{"textbf": true, "textit": true, "texttt": true, "textsc": true, "textrm": true, "textsf": true, "textup": true, "emph": true, "underline": true,
	"mathrm": true, "mathbf": true, "mathit": true, "mathsf": true, "mathtt": true, "mathnormal": true, "boldsymbol": true, "bm": true, "text": true, "mbox": true, "hbox": true,
	"textnormal": true, "ensuremath": true, "num": true, "redsitext": true}

var refs = map[string]bool{"ref": true, "autoref": true, "cref": true, "Cref": true, "vref": true, "eqref": true, "subref": true, "labelcref": true}

func (s *scan) command(i, end int) (int, error) {
	k := s.commandEnd(i, end)
	name := s.src[min(i+1, k):k]
	if text, ok := said[name]; ok {
		s.emit(text, i)
		if len(name) > 1 {
			k = s.skipBlanks(k, end)
		}
		return k, nil
	}
	if k < end && s.src[k] == '*' && name != "\\" {
		k++
	}
	switch {
	case name == "\\" || name == "tabularnewline" || name == "newline":
		s.emit(string(rowEnd), i)
		if k < end && s.src[k] == '*' {
			k++
		}
		return s.option(k, end), nil
	case name == "begin":
		return s.begin(i, k, end)
	case name == "end":
		from, to, ok := s.group(k, end)
		if ok {
			s.closes(strings.TrimSuffix(s.src[from:to], "*"), i)
			k = to + 1
			s.ended = s.src[from:to] == "document"
		}
		return k, nil
	case name == "endinput":
		return end, nil
	case name == "IfFileExists" || name == "InputIfFileExists":
		return s.ifExists(name, i, k, end)
	case name == "verb" || name == "lstinline" && k < end && s.src[k] != '{' && s.src[k] != '[':
		if k < end {
			if n := strings.IndexByte(s.src[k+1:end], s.src[k]); n >= 0 {
				return k + n + 2, nil
			}
		}
		return k, nil
	case name == "iffalse":
		return s.afterFi(k, end), nil
	case name == "redsi":
		k = s.option(s.skipBlanks(k, end), end)
		from, to, ok := s.group(k, end)
		if !ok {
			return k, nil
		}
		s.mark(useMark, s.src[from:to], i)
		s.emit(" ", i)
		return to + 1, nil
	case name == "label" || refs[name] || name == "crefrange":
		from, to, ok := s.group(k, end)
		if !ok {
			return k, nil
		}
		kind := refMark
		if name == "label" {
			kind = labelMark
		}
		for label := range strings.SplitSeq(s.src[from:to], ",") {
			s.mark(kind, strings.TrimSpace(label), i)
		}
		s.emit(" ", i)
		return to + 1, nil
	case name == "input" || name == "include" || name == "subfile":
		return s.includes(i, k, end)
	case name == "multicolumn":
		from, to, ok := s.group(k, end)
		if !ok {
			return k, nil
		}
		s.mark(spanMark, strings.TrimSpace(s.src[from:to]), i)
		return s.skip("m", to+1, end), nil
	case name == "midrule" || name == "hline":
		s.emit(string(ruleMark), i)
		return k, nil
	case name == "def" || name == "gdef" || name == "edef":
		if n := strings.IndexByte(s.src[k:end], '{'); n >= 0 {
			return s.skip("m", k+n, end), nil
		}
		return k, nil
	case name == "cmidrule":
		if k < end && s.src[k] == '(' {
			if n := strings.IndexByte(s.src[k:end], ')'); n >= 0 {
				k += n + 1
			}
		}
	case name == "includegraphics":
		at := s.skip("o", k, end)
		if from, to, ok := s.group(at, end); ok {
			s.mark(inputMark, s.src[from:to], i)
			if err := s.picture(s.src[from:to], spot{s.file, int32(i)}); err != nil {
				return 0, err
			}
		}
	}
	if signature, ok := dropped[name]; ok {
		s.emit(" ", i)
		return s.skip(signature, k, end), nil
	}
	if fonts[name] {
		return s.option(k, end), nil
	}
	if len(name) > 1 {
		if k == s.option(k, end) {
			k = s.skipBlanks(k, end)
		}
		s.emit(" ", i)
	}
	return s.option(k, end), nil
}

// skipBlanks skips the blanks that TeX skips after the name of a command.
func (s *scan) skipBlanks(k, end int) int { return end - len(strings.TrimLeft(s.src[k:end], " \t")) }

func (s *scan) includes(i, k, end int) (int, error) {
	from, to, ok := s.group(k, end)
	next := to + 1
	if !ok { // \input name
		from = s.skipSpace(k, end)
		to = from
		for to < end && strings.IndexByte(" \t\r\n%\\}", s.src[to]) < 0 {
			to++
		}
		next = to
	}
	name := s.src[from:to]
	s.mark(inputMark, name, i)
	s.emit(" ", i)
	return next, s.input(name, spot{s.file, int32(i)})
}

// ifExists reads the branch of \IfFileExists or \InputIfFileExists that LaTeX takes, and for the latter also the file.
func (s *scan) ifExists(name string, i, k, end int) (int, error) {
	from, to, ok := s.group(k, end)
	if !ok {
		return k, nil
	}
	_, exists := s.found(s.src[from:to])
	next := to + 1
	for _, taken := range []bool{exists, !exists} {
		if from, to, ok = s.group(next, end); !ok {
			break
		}
		next = to + 1
		if taken {
			if err := s.nested(from, to); err != nil {
				return 0, err
			}
		}
	}
	if s.emit(" ", i); !exists || name == "IfFileExists" {
		return next, nil
	}
	_, err := s.includes(i, k, end)
	return next, err
}

// afterFi returns the end of the text that \iffalse leaves out.
func (s *scan) afterFi(k, end int) int {
	depth := 1
	for k < end {
		n := strings.IndexByte(s.src[k:end], '\\')
		if n < 0 {
			return end
		}
		k += n
		to := s.commandEnd(k, end)
		switch name := s.src[k+1 : to]; {
		case name == "fi":
			if depth--; depth == 0 {
				return to
			}
		case name == "else" && depth == 1:
			return to
		case strings.HasPrefix(name, "if") && name != "iff":
			depth++
		}
		k = max(to, k+1)
	}
	return end
}
