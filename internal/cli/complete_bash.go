package cli

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
)

// bashScript asks this program with the line as it was typed: addresses have brackets and
// quotes, which the shell's own words do not survive. It needs no package.
const bashScript = `# Completion of redsi for bash: source <(redsi completion bash)
_redsi() {
    local options reply
    COMPREPLY=()
    while IFS= read -r reply; do
        if [[ -z ${options+set} ]]; then options=$reply; else COMPREPLY+=("$reply"); fi
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    [[ $options == *nospace* ]] && compopt -o nospace 2>/dev/null
    [[ $options == *nofiles* ]] && compopt +o default 2>/dev/null
    return 0
}
complete -o default -F _redsi redsi
`

// newBashCmd is what the script calls: it prints a line of options, then the candidates for
// the last word, as bash is to insert them.
func newBashCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "__bash LINE BREAKS", Hidden: true, DisableFlagParsing: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			l := splitLine(args[0], args[1])
			var out bytes.Buffer
			execute(cmd.Context(), a.Registry, append([]string{cobra.ShellCompRequestCmd}, l.words()...), &out, io.Discard)
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			directive, _ := strconv.Atoi(strings.TrimPrefix(lines[len(lines)-1], ":"))
			var found []string
			if is := cobra.ShellCompDirective(directive); is&(cobra.ShellCompDirectiveFilterFileExt|cobra.ShellCompDirectiveFilterDirs|cobra.ShellCompDirectiveError) == 0 {
				for _, x := range lines[:len(lines)-1] {
					name, _, _ := strings.Cut(x, "\t")
					found = append(found, name)
				}
				options := ""
				if is&cobra.ShellCompDirectiveNoSpace != 0 {
					options += "nospace "
				}
				if is&cobra.ShellCompDirectiveNoFileComp != 0 {
					options += "nofiles"
				}
				view.Println(a.Out, options)
			} else {
				view.Println(a.Out)
			}
			for _, x := range l.replies(found) {
				view.Println(a.Out, x)
			}
			return nil
		}}
}

// typed is a command line up to the cursor.
type typed struct {
	before []string // whole words after the program's name, without their quotes
	last   string   // the word at the cursor, without its quotes
	kept   int      // how much of it precedes what bash replaces
	quote  rune     // that is open at the cursor; 0 if none
	escape bool     // what bash replaces has a backslash
}

func (l typed) words() []string { return append(l.before, l.last) }

// splitLine splits a line into words as the shell does. Bash replaces what follows the last
// of the breaks, or the open quote.
func splitLine(line, breaks string) (l typed) {
	var word strings.Builder
	var words []string
	begun, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			if escaped = false; l.quote == '"' && !strings.ContainsRune("$`\"\\\n", r) {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
		case r == '\\' && l.quote != '\'':
			escaped, begun, l.escape = true, true, true
		case r == l.quote:
			l.quote, l.kept = 0, word.Len()
		case l.quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			begun, l.quote, l.kept, l.escape = true, r, word.Len(), false
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun, l.kept, l.escape = false, 0, false
		default:
			begun = true
			word.WriteRune(r)
			if strings.ContainsRune(breaks, r) {
				l.kept, l.escape = word.Len(), false
			}
		}
	}
	l.last = word.String()
	if len(words) > 0 {
		l.before = words[1:]
	}
	return l
}

// replies are the words that begin as the last one does, each without the part that is kept
// and quoted the same way.
func (l typed) replies(found []string) (out []string) {
	begun := l.last
	if strings.HasPrefix(begun, "-") { // cobra completes what follows the sign
		if flag, value, ok := strings.Cut(begun, "="); ok {
			begun, l.kept = value, max(0, l.kept-len(flag)-1)
		}
	}
	special := false
	for _, x := range found {
		if strings.HasPrefix(x, begun) {
			out = append(out, x[min(l.kept, len(begun)):])
			special = special || quoted(x) != x
		}
	}
	for i, x := range out {
		switch {
		case l.quote == '\'':
			out[i] = strings.ReplaceAll(x, "'", `'\''`)
		case l.quote == '"':
			out[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(x)
		case special && l.kept == 0 && !l.escape:
			out[i] = "'" + strings.ReplaceAll(x, "'", `'\''`) + "'"
		case special:
			out[i] = backslashed(x)
		}
	}
	return out
}

// backslashed is a word for a shell, without quotes.
func backslashed(s string) string {
	var b strings.Builder
	for _, r := range s {
		if quoted(string(r)) != string(r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
