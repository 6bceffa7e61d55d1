package isolation

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// legacyActs are the calls of this processor that have younger forms in acts.
var legacyActs = map[int]act{
	unix.SYS_RENAMEAT: {kind: "write", dir: 0, path: 1, also: 3},
}
