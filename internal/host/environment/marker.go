package environment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"deps.dev/util/semver"
)

// markers are the values of an environment marker's variables, of PEP 508. Those that differ from
// machine to machine are empty, and so are extras.
type markers map[string]string

func (on platform) values(full string) markers {
	values := maps.Clone(on.markers)
	maps.Copy(values, markers{"python_full_version": full, "implementation_version": full, "python_version": fmt.Sprintf("3.%d", minor(full)),
		"platform_release": "", "platform_version": "", "extra": "", "extras": "", "dependency_groups": ""})
	return values
}

// holds evaluates a marker; an empty one holds.
func (m markers) holds(text string) (bool, error) {
	if strings.TrimSpace(text) == "" {
		return true, nil
	}
	p := &marking{m: m, rest: text}
	p.next()
	v := p.or()
	if p.err == nil && p.token != "" {
		p.fail("%q is left over", p.token)
	}
	if p.err != nil {
		return false, fmt.Errorf("the marker %q: %w", text, p.err)
	}
	return v, nil
}

// marking is a marker that is being read.
type marking struct {
	m     markers
	rest  string
	token string // "" at the end
	err   error
}

var markerToken = regexp.MustCompile(`^\s*(\(|\)|'[^']*'|"[^"]*"|===|==|~=|!=|<=|>=|<|>|[A-Za-z_][\w.]*)`)

func (p *marking) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *marking) next() {
	if p.token = ""; strings.TrimSpace(p.rest) == "" {
		return
	}
	at := markerToken.FindStringSubmatchIndex(p.rest)
	if at == nil {
		p.fail("%q is not understood", strings.TrimSpace(p.rest))
		p.rest = ""
		return
	}
	p.token, p.rest = p.rest[at[2]:at[3]], p.rest[at[1]:]
}

func (p *marking) or() bool {
	v := p.and()
	for p.token == "or" {
		p.next()
		w := p.and()
		v = v || w
	}
	return v
}

func (p *marking) and() bool {
	v := p.atom()
	for p.token == "and" {
		p.next()
		w := p.atom()
		v = v && w
	}
	return v
}

func (p *marking) atom() bool {
	if p.token == "(" {
		p.next()
		v := p.or()
		if p.token != ")" {
			p.fail("a bracket is not closed")
		}
		p.next()
		return v
	}
	left, leftName := p.value()
	op := p.token
	p.next()
	if op == "not" && p.token == "in" {
		op = "not in"
		p.next()
	}
	right, rightName := p.value()
	switch {
	case p.err != nil:
		return false
	case isVersion(leftName):
		return p.version(left, op, right)
	case isVersion(rightName):
		return p.version(right, strings.NewReplacer("<", ">", ">", "<").Replace(op), left)
	}
	switch op {
	case "==", "===":
		return left == right
	case "!=":
		return left != right
	case "in":
		return strings.Contains(right, left)
	case "not in":
		return !strings.Contains(right, left)
	case "<":
		return left < right
	case "<=":
		return left <= right
	case ">":
		return left > right
	case ">=":
		return left >= right
	}
	p.fail("%q is no comparison", op)
	return false
}

// value reads a text or a variable; name is that of a variable.
func (p *marking) value() (text, name string) {
	t := p.token
	p.next()
	if len(t) > 1 && (t[0] == '\'' || t[0] == '"') {
		return t[1 : len(t)-1], ""
	}
	v, ok := p.m[t]
	if !ok {
		p.fail("there is no variable %q", t)
	}
	return v, t
}

func isVersion(name string) bool {
	return name == "python_version" || name == "python_full_version" || name == "implementation_version"
}

func (p *marking) version(is, op, than string) bool {
	if op == "in" || op == "not in" {
		list := strings.FieldsFunc(than, func(r rune) bool { return r == ' ' || r == ',' || r == '|' })
		return slices.Contains(list, is) == (op == "in")
	}
	c, err := semver.PyPI.ParseConstraint(op + than)
	if err != nil {
		p.fail("%s %s: %w", op, than, err)
		return false
	}
	return c.Match(is)
}
