package environment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"deps.dev/util/pypi"
)

// markers maps the variables of PEP 508's environment markers to values. Variables that differ from machine to machine
// are empty; extra, extras and dependency_groups have all that was chosen, each between bars.
type markers map[string]string

func (on platform) values(full string) markers {
	values := maps.Clone(on.markers)
	maps.Copy(values, markers{"python_full_version": full, "implementation_version": full, "python_version": fmt.Sprintf("3.%d", minor(full)),
		"platform_release": "", "platform_version": "", "extra": "|", "extras": "", "dependency_groups": ""})
	return values
}

const markerValue = `('[^']*'|"[^"]*"|[A-Za-z_][\w.]*)`

var (
	// markerPart is a comparison, or what stands between two of them.
	markerPart = regexp.MustCompile(`(?s)` + markerValue + `\s*(===|==|~=|!=|<=|>=|<|>|not\s+in\b|in\b)\s*` + markerValue + `|and\b|or\b|\s+|.`)
	bracketed  = regexp.MustCompile(`\([01](?:[&|][01])*\)`) // without brackets in it
)

// anyHolds reports whether one of several markers holds, or there are none.
func (m markers) anyHolds(texts []string) (ok bool, err error) {
	ok = len(texts) == 0
	for _, text := range texts {
		holds, wrong := m.holds(text)
		ok, err = ok || holds, cmp.Or(err, wrong)
	}
	return ok, err
}

// holds evaluates a marker; an empty marker holds.
func (m markers) holds(text string) (bool, error) {
	if strings.TrimSpace(text) == "" {
		return true, nil
	}
	var wrong error
	digit := map[bool]string{false: "0", true: "1"}
	form := "(" + markerPart.ReplaceAllStringFunc(text, func(part string) string {
		if c := markerPart.FindStringSubmatch(part); c[2] != "" {
			holds, err := m.compare(c[1], c[2], c[3])
			wrong = cmp.Or(wrong, err)
			return digit[holds]
		}
		if between, ok := map[string]string{"and": "&", "or": "|", "(": "(", ")": ")"}[part]; ok || strings.TrimSpace(part) == "" {
			return between
		}
		return "?"
	}) + ")"
	for bracketed.MatchString(form) {
		form = bracketed.ReplaceAllStringFunc(form, func(b string) string {
			return digit[slices.ContainsFunc(strings.Split(b, "|"), func(all string) bool { return !strings.Contains(all, "0") })]
		})
	}
	if wrong == nil && form != "0" && form != "1" {
		wrong = errors.New("it is not comparisons with and, or and brackets")
	}
	if wrong != nil {
		return false, fmt.Errorf("the marker %q: %w", text, wrong)
	}
	return form == "1", nil
}

// value returns the value of a quoted text or a variable; name is "" for a text.
func (m markers) value(t string) (text, name string, err error) {
	if t[0] == '\'' || t[0] == '"' {
		return t[1 : len(t)-1], "", nil
	}
	text, ok := m[t]
	if !ok {
		err = fmt.Errorf("there is no variable %q", t)
	}
	return text, t, err
}

func (m markers) compare(a, op, b string) (bool, error) {
	left, leftName, err := m.value(a)
	right, rightName, rerr := m.value(b)
	if err = cmp.Or(err, rerr); err != nil {
		return false, err
	}
	switch {
	case leftName == "extra":
		return strings.Contains(left, "|"+right+"|") == (op == "=="), nil
	case rightName == "extra":
		return strings.Contains(right, "|"+left+"|") == (op == "=="), nil
	case rightName == "extras" || rightName == "dependency_groups":
		if !strings.HasSuffix(op, "in") {
			return false, fmt.Errorf("%s %s %s: what is asked of %s is whether something is in it", a, op, b, b)
		}
		return strings.Contains(right, "|"+pypi.CanonPackageName(left)+"|") == (op == "in"), nil
	case isVersion(leftName):
		return compareVersion(left, op, right)
	case isVersion(rightName):
		return compareVersion(right, strings.NewReplacer("<", ">", ">", "<").Replace(op), left)
	}
	order := strings.Compare(left, right)
	orders := map[string]bool{"==": order == 0, "===": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}
	if holds, ok := orders[op]; ok {
		return holds, nil
	}
	if op == "~=" {
		return false, fmt.Errorf("%s and %s are not versions, which %s compares", a, b, op)
	}
	return strings.Contains(right, left) == (op == "in"), nil
}

func isVersion(name string) bool {
	return name == "python_version" || name == "python_full_version" || name == "implementation_version"
}

func compareVersion(is, op, than string) (bool, error) {
	if strings.HasSuffix(op, "in") {
		list := strings.FieldsFunc(than, func(r rune) bool { return r == ' ' || r == ',' || r == '|' })
		return slices.Contains(list, is) == (op == "in"), nil
	}
	c, err := constraint(op + than)
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", op, than, err)
	}
	return c.Match(is), nil
}
