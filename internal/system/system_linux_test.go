package system

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// mounts are lines as kernels and file systems write them; their options are of mounts that
// people have shown in reports and manuals.
const mounts = `27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
271 27 0:60 / /shared rw,relatime shared:9 - ext4 /dev/vdb rw
30 27 0:51 / /home rw,relatime shared:2 - nfs4 nas:/home rw,vers=4.2,rsize=262144,wsize=262144,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=192.0.2.30,local_lock=none,addr=192.0.2.10
31 27 0:52 / /v3 rw,relatime shared:3 - nfs nas:/v3 rw,vers=3,rsize=65536,wsize=65536,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,mountaddr=192.0.2.10,mountvers=3,mountport=635,mountproto=udp,local_lock=none,addr=192.0.2.10
32 27 0:53 / /nolock rw,relatime - nfs nas:/export rw,vers=3,rsize=1048576,wsize=1048576,namlen=255,hard,nolock,proto=tcp,port=2048,timeo=600,retrans=2,sec=sys,mountaddr=192.0.2.10,mountvers=3,mountport=2048,mountproto=tcp,local_lock=all,addr=192.0.2.10
33 27 0:54 / /flock rw,relatime - nfs4 nas:/flock rw,vers=4.1,hard,proto=tcp,sec=sys,local_lock=flock,addr=192.0.2.10
34 27 0:55 / /posix rw,relatime - nfs nas:/posix rw,vers=3,hard,proto=tcp,sec=sys,local_lock=posix,addr=192.0.2.10
40 27 0:56 / /p/lscratchd rw,nosuid shared:5 - lustre mds1-lnet0@o2ib100:/lsd rw,lazystatfs,flock
41 27 0:57 / /fsx rw - lustre 192.0.2.25@tcp:/fsx rw,lazystatfs
42 27 0:58 / /lustre rw,relatime - lustre 192.0.2.5@tcp:/lustre rw,checksum,localflock,user_xattr,lruresize,lazystatfs,nouser_fid2path,verbose,encrypt
43 27 0:59 / /ibm/fs1 rw,relatime shared:6 - gpfs fs1 rw
44 27 0:61 / /mnt/beegfs rw,relatime shared:7 - beegfs beegfs_nodev rw,cfgFile=/etc/beegfs/beegfs-client.conf
45 27 0:73 / /home/user/cifs rw,relatime shared:424 - cifs //nas/share rw,vers=3.1.1,cache=strict,username=user,uid=0,noforceuid,gid=0,noforcegid,addr=192.0.2.10,file_mode=0755,dir_mode=0755,soft,nounix,serverino,mapposix,rsize=4194304,wsize=4194304,bsize=1048576,echo_interval=60,actimeo=1
46 27 0:74 / /cache rw,nodev,relatime - cifs //nas/Cache rw,vers=2.0,cache=strict,forceuid,forcegid,addr=192.0.2.10,soft,nounix,serverino,mapposix,nobrl,actimeo=1
47 27 0:75 / /Docker/host rw,noatime - 9p C:\134Program\040Files\134Docker\134Docker\134resources rw,dirsync,aname=drvfs;path=C:\Program Files\Docker\Docker\resources;symlinkroot=/mnt/,mmap,access=client,msize=65536,trans=fd,rfd=3,wfd=3
48 27 0:76 / /remote rw,nosuid,nodev,relatime shared:71 - fuse.sshfs user@host:/srv rw,user_id=1000,group_id=1000
49 27 0:77 / /gluster rw,relatime - fuse.glusterfs server:/media rw,user_id=0,group_id=0,default_permissions,allow_other,max_read=131072
50 27 0:78 / /ceph rw,relatime - ceph 192.0.2.7:6789:/ rw,name=admin,secret=<hidden>,acl
52 27 8:49 / /windows rw,relatime - fuseblk /dev/sdd1 rw,user_id=0,group_id=0,allow_other,blksize=4096
`

// TestLocalLocks: what is known of the locks of each file system, by its line of mountinfo.
func TestLocalLocks(t *testing.T) {
	for id, want := range map[string]string{
		"27": "ext4", "271": "ext4", "30": "nfs4", "31": "nfs", "34": "nfs", "40": "lustre", "45": "cifs", "50": "ceph", "52": "fuseblk",
		"32": "nfs see (nolock)", "33": "nfs4 see (local_lock=flock)",
		"41": "lustre without file locks (no option flock)", "42": "lustre see (localflock)",
		"43": "gpfs see, unless", "44": "beegfs see, unless", "46": "cifs see (nobrl)", "47": "9p see, unless", "48": "fuse.sshfs see, unless", "49": "fuse.glusterfs see, unless",
		"2": "", "99": "",
	} {
		kind, options := mounted(mounts, id)
		local := LocalLocks(kind, options)
		wantKind, wantLocal, _ := strings.Cut(want, " ")
		if kind != wantKind || (local == "") != (wantLocal == "") || !strings.Contains(local, wantLocal) {
			t.Errorf("%s: %s %q, want %q", id, kind, local, want)
		}
	}
	if kind, options := mounted("36 35 98:0 / /mnt", "36"); kind != "" || options != "" {
		t.Errorf("a line without a file system: %s, %s", kind, options)
	}
}

// TestFileSystem: folders of two file systems that each Linux has, and one that is not there yet.
func TestFileSystem(t *testing.T) {
	if kind, options := FileSystem("/proc/self"); kind != "proc" || !strings.HasPrefix(options, "r") {
		t.Errorf("/proc/self: %q, %q", kind, options)
	}
	dir := t.TempDir()
	here, _ := FileSystem(dir)
	if kind, _ := FileSystem(filepath.Join(dir, "not", "there")); kind != here || here == "" || here == "proc" {
		t.Errorf("%q, and what is not there yet: %q", here, kind)
	}
	link := filepath.Join(dir, "link")
	testkit.None(t, os.Symlink("/proc", link))
	if kind, _ := FileSystem(link); kind != "proc" {
		t.Errorf("a link to /proc: %q", kind)
	}
}
