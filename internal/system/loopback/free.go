package loopback

import "net"

// FreeAddress is 127.0.0.1 with a port that nobody is given by the system for a minute:
// the connection that was on it is in TIME_WAIT. Who asks for it by number gets it.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return "", err
	}
	in, err := l.Accept()
	if err != nil {
		out.Close()
		return "", err
	}
	in.Close() // first, so that the port's side waits
	out.Close()
	return l.Addr().String(), nil
}
