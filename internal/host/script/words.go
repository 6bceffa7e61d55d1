package script

import (
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// builtins are the commands that a shell has in itself.
var builtins = set(`. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs
disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd
printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit
umask unalias unset wait`)

// everywhere has the utilities of POSIX and the GNU coreutils: each system has them, and their versions hardly matter.
var everywhere = set(`arch awk b2sum base32 base64 basename basenc bc cat chgrp chmod chown cksum cmp comm cp csplit
cut date dd df diff dircolors dirname du ed env expand expr factor file find fmt fold getconf grep groups head hostid
iconv id install join link ln locale logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste
patch pathchk pr printenv ps ptx readlink realpath rm rmdir sed seq sh sha1sum sha224sum sha256sum sha384sum sha512sum
shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee time timeout touch tr truncate tsort tty uname
unexpand uniq unlink users uuencode uudecode wc who whoami xargs yes`)

func set(words string) map[string]bool { return lists.Set(strings.Fields(words)) }
