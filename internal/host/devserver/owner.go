package devserver

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system/process"
	"github.com/redsi/redsi/internal/system/shellwords"
)

// ErrElsewhere says that another machine runs the server of a folder.
var ErrElsewhere = errors.New("the Temporal server of this state folder runs on another machine")

// owner is the machine whose server has a folder, as the newest of the folder's claims says: files owner.1, owner.2, …,
// which tools/temporal-server creates and writes to every two seconds. Locks may not reach other machines; claims do.
type owner struct {
	Host   string    `json:"host"`
	Boot   string    `json:"boot"` // "" where the system does not tell
	Since  time.Time `json:"since"`
	file   string
	number int
}

// elsewhere returns the owner of a folder; ok if that is another machine, or this one before its last boot, and if the
// claim's number is above silent.
func elsewhere(dir string, silent int) (o owner, ok bool) {
	files, _ := os.ReadDir(dir) // without a folder there is none
	for _, f := range files {
		if n, ok := strings.CutPrefix(f.Name(), "owner."); ok {
			i, _ := strconv.Atoi(n) // 0: another file
			o.number = max(o.number, i)
		}
	}
	if o.number <= silent {
		return o, false
	}
	o.file = filepath.Join(dir, "owner."+strconv.Itoa(o.number))
	b, err := os.ReadFile(o.file)
	if err != nil {
		return o, false // its server has just ended, or another claim follows
	}
	_ = json.Unmarshal(b, &o) // a damaged claim counts as another machine's
	here, _ := process.Here()
	if o.Boot != "" && here.Boot != "" {
		return o, o.Boot != here.Boot
	}
	return o, o.Host != here.Machine
}

func (o owner) String() string {
	return fmt.Sprintf("%s, since %s", o.Host, o.Since.Local().Format("2 Jan 15:04"))
}

func (o owner) error() error {
	dir := filepath.Dir(o.file)
	worker := "; workers here can join it if it was started by `redsi dev --listen`"
	if i, err := announced(dir); err == nil && i.Listen != "" {
		worker = "; a worker here joins it: `redsi worker --state " + shellwords.Quote(filepath.Dir(dir)) + "`"
	}
	return fmt.Errorf("%w: %s; run redsi there, or here with another folder (--state or REDSI_STATE): both may use one store (--store)%s", ErrElsewhere, o, worker)
}

// Elsewhere says which other machine runs the server of a folder; "" if none does.
func Elsewhere(dir string) string {
	if o, other := elsewhere(dir, 0); other {
		return o.error().Error()
	}
	return ""
}

// A claim that was not written to for staleAfter is silent: its machine is gone, or the process there was killed. This
// is told by two times of the file server, and by watching for sureAfter, in which a living process writes twice.
const (
	staleAfter = time.Minute
	sureAfter  = 5 * time.Second
)

// settle returns nil once no other machine runs the folder's server, and ErrElsewhere as soon as a machine is seen to.
func (s *Server) settle(ctx context.Context) error {
	for {
		o, other := elsewhere(s.o.Dir, s.silent)
		if !other {
			return nil
		}
		first, err := written(o.file)
		if err != nil {
			continue // it has just ended
		}
		before := s.now().Sub(first)
		p := &patience{say: s.o.Say, what: func() string {
			return fmt.Sprintf("waiting to see whether the Temporal server of this state folder still runs on %s; it was last seen %s ago", o, before.Round(time.Second))
		}}
		for began := time.Now(); ; {
			if err := p.wait(ctx); err != nil {
				return err
			}
			at, err := written(o.file)
			if err != nil {
				break
			}
			if !at.Equal(first) {
				return o.error()
			}
			if quiet := time.Since(began); quiet > sureAfter && quiet+max(0, before) > staleAfter {
				s.silent = o.number
				break
			}
		}
	}
}

// written returns when a file was last written to. The file is opened since NFS then asks its server.
func written(file string) (time.Time, error) {
	f, err := os.Open(file)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return st.ModTime(), nil
}

// now returns the time of the folder's file server; the zero time if nothing can be written there.
func (s *Server) now() time.Time {
	f, err := os.CreateTemp(s.o.Dir, "now-*")
	if err != nil {
		return time.Time{}
	}
	defer os.Remove(f.Name())
	_, _ = f.WriteString("now")
	f.Close()
	at, _ := written(f.Name())
	return at
}
