package isolation

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// legacyActs are the calls of this processor that have younger forms in acts.
var legacyActs = map[int]act{
	unix.SYS_OPEN:      {kind: "open", dir: -1, path: 0, flag: 1},
	unix.SYS_CREAT:     {kind: "write", dir: -1, path: 0},
	unix.SYS_UNLINK:    {kind: "write", dir: -1, path: 0},
	unix.SYS_RMDIR:     {kind: "write", dir: -1, path: 0},
	unix.SYS_MKDIR:     {kind: "write", dir: -1, path: 0},
	unix.SYS_MKNOD:     {kind: "write", dir: -1, path: 0},
	unix.SYS_RENAME:    {kind: "write", dir: -1, path: 0, also: 1},
	unix.SYS_RENAMEAT:  {kind: "write", dir: 0, path: 1, also: 3},
	unix.SYS_LINK:      {kind: "write", dir: -1, path: 0, also: 1},
	unix.SYS_SYMLINK:   {kind: "write", dir: -1, path: 1},
	unix.SYS_CHMOD:     {kind: "write", dir: -1, path: 0},
	unix.SYS_CHOWN:     {kind: "write", dir: -1, path: 0},
	unix.SYS_LCHOWN:    {kind: "write", dir: -1, path: 0},
	unix.SYS_UTIME:     {kind: "write", dir: -1, path: 0},
	unix.SYS_UTIMES:    {kind: "write", dir: -1, path: 0},
	unix.SYS_FUTIMESAT: {kind: "write", dir: 0, path: 1},
}
