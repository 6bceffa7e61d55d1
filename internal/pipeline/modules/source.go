package modules

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/git"
)

// Repository is what a git:: source names.
type Repository struct {
	URL    string
	Ref    string // a branch, tag or whole commit id
	Folder string // slash-separated, within the repository; "." for all of it
}

// Source is the repository as redsi.lock names it, without the folder.
func (r Repository) Source() string { return gitPrefix + r.URL + "?ref=" + r.Ref }

const gitPrefix = "git::"

// refForm is the form of a ref, which cannot begin like an option, nor be a refspec with a colon.
var refForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+@-]*$`)

// ParseGit reads git::URL//FOLDER?ref=REF, whose folder is optional; ok is false of other forms.
func ParseGit(source string) (r Repository, ok bool, err error) {
	rest, ok := strings.CutPrefix(source, gitPrefix)
	if !ok {
		return r, false, nil
	}
	fail := func(format string, args ...any) (Repository, bool, error) {
		return Repository{}, true, fmt.Errorf("%q: %s; a repository is written git::https://HOST/PATH//FOLDER?ref=REF", source, fmt.Sprintf(format, args...))
	}
	u, err := url.Parse(rest)
	if err != nil {
		return fail("it is not a URL")
	}
	query, err := url.ParseQuery(u.RawQuery)
	_, password := u.User.Password()
	switch {
	case !slices.Contains(git.Schemes, u.Scheme):
		return fail("the URL begins with %s://", strings.Join(git.Schemes, "://, "))
	case u.Scheme != "file" && u.Host == "" || strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-"):
		return fail("it has no host")
	case password:
		return fail("it has a password, which every reader of the pipeline could see: use git's credential helper")
	case err != nil || len(query) != 1 || len(query["ref"]) != 1 || u.Fragment != "":
		return fail("it needs ?ref= with a branch, tag or commit, and nothing else")
	case !refForm.MatchString(query.Get("ref")) || strings.Contains(query.Get("ref"), ".."):
		return fail("%q is not a branch, tag or commit", query.Get("ref"))
	}
	r.Ref = query.Get("ref")
	repository, folder, _ := strings.Cut(u.EscapedPath(), "//")
	if r.Folder, err = url.PathUnescape(folder); err != nil || strings.ContainsAny(r.Folder, "\\\x00") || slices.Contains(strings.Split(r.Folder, "/"), "..") {
		return fail("%q is not a folder of a repository", folder)
	}
	r.Folder = path.Clean(strings.Trim(r.Folder, "/"))
	u.RawQuery, u.RawPath = "", ""
	if u.Path, err = url.PathUnescape(repository); err != nil || strings.Trim(u.Path, "/") == "" {
		return fail("it has no path to a repository")
	}
	r.URL = u.String()
	return r, true, nil
}
