package torchfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
)

const (
	maxSteps  = 2 << 20 // opcodes of one pickle
	maxString = 1 << 20
)

// The values of a pickle: nil, bool, int64, float64, string, *big.Int, and these.
type (
	mark   struct{}
	global string // "module name"
	tuple  []any  // immutable once built
	list   struct{ items []any }
	dict   struct {
		keys   []any
		values []any
	}
	persistent struct{ id tuple } // a storage
	rebuilt    struct {           // torch._utils._rebuild_tensor_v2(storage, offset, size, stride, …), or …_v3(…, type)
		args tuple
	}
)

// allowed are the only names that a pickle may mention. Types of numbers and storages are words, which nothing is done with.
func allowed(name string) bool {
	switch name {
	case "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3", "torch._utils _rebuild_parameter", "collections OrderedDict", "torch.storage UntypedStorage":
		return true
	}
	return strings.HasPrefix(name, "torch ")
}

var storages = map[string]string{
	"torch FloatStorage": "F32", "torch HalfStorage": "F16", "torch BFloat16Storage": "BF16", "torch DoubleStorage": "F64",
	"torch LongStorage": "I64", "torch IntStorage": "I32", "torch ShortStorage": "I16", "torch CharStorage": "I8",
	"torch ByteStorage": "U8", "torch BoolStorage": "BOOL",
}

// machine runs one pickle.
type machine struct {
	r     *bufio.Reader
	stack []any
	memo  map[uint32]any
}

// unpickle reads one pickle and returns its value.
func unpickle(r *bufio.Reader) (any, error) {
	m := &machine{r: r, memo: map[uint32]any{}}
	for range maxSteps {
		op, err := r.ReadByte()
		if err != nil {
			return nil, fmt.Errorf("the pickle ends early: %w", noEOF(err))
		}
		if op == '.' {
			return m.pop()
		}
		if err := m.step(op); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the pickle has more than %d steps", maxSteps)
}

func (m *machine) step(op byte) error {
	switch op {
	case 0x80: // PROTO
		v, err := m.r.ReadByte()
		if err != nil || v < 2 || v > 5 {
			return fmt.Errorf("pickle protocol %d, 2 to 5 are known", v)
		}
	case 0x95: // FRAME
		_, err := m.uint(8)
		return err
	case '(':
		m.push(mark{})
	case '}':
		m.push(&dict{})
	case ']':
		m.push(&list{})
	case ')':
		m.push(tuple{})
	case 'N':
		m.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		m.push(op == 0x88)
	case 'J', 'K', 'M', 'G', 0x8a: // BININT, BININT1, BININT2, BINFLOAT, LONG1
		return m.number(op)
	case 'X', 'U', 0x8c: // BINUNICODE, SHORT_BINSTRING, SHORT_BINUNICODE
		width := 1
		if op == 'X' {
			width = 4
		}
		return m.text(width)
	case 'c': // GLOBAL
		module, err := m.line()
		if err != nil {
			return err
		}
		name, err := m.line()
		if err != nil {
			return err
		}
		return m.global(module + " " + name)
	case 0x93: // STACK_GLOBAL
		return m.stackGlobal()
	case 'q', 'r', 0x94, 'h', 'j': // BINPUT, LONG_BINPUT, MEMOIZE, BINGET, LONG_BINGET
		return m.remember(op)
	case 't', 0x85, 0x86, 0x87: // TUPLE, TUPLE1, TUPLE2, TUPLE3
		return m.tuple(op)
	case 'a', 'e', 's', 'u', 'b': // APPEND, APPENDS, SETITEM, SETITEMS, BUILD
		return m.fill(op)
	case 'Q': // BINPERSID
		id, err := pop[tuple](m)
		if err != nil {
			return err
		}
		m.push(persistent{id})
	case 'R': // REDUCE
		return m.reduce()
	default:
		return fmt.Errorf("pickle opcode 0x%02x is not one that a dictionary of tensors needs; the file is refused", op)
	}
	return nil
}

// reduce is a call, of one of three known names.
func (m *machine) reduce() error {
	args, err := pop[tuple](m)
	if err != nil {
		return err
	}
	name, err := pop[global](m)
	if err != nil {
		return err
	}
	switch {
	case name == "collections OrderedDict" && len(args) == 0:
		m.push(&dict{})
	case name == "torch._utils _rebuild_tensor_v2" && len(args) >= 4, name == "torch._utils _rebuild_tensor_v3" && len(args) >= 7:
		m.push(rebuilt{args})
	case name == "torch._utils _rebuild_parameter" && len(args) >= 1:
		t, ok := args[0].(rebuilt)
		if !ok {
			return errors.New("a parameter that is not a tensor")
		}
		m.push(t)
	default:
		return fmt.Errorf("the pickle calls %q with %d arguments; the file is refused", string(name), len(args))
	}
	return nil
}

func (m *machine) global(name string) error {
	if !allowed(name) {
		return fmt.Errorf("the pickle names %q, which no dictionary of tensors needs; the file is refused", name)
	}
	m.push(global(name))
	return nil
}

func (m *machine) stackGlobal() error {
	name, err := pop[string](m)
	if err != nil {
		return err
	}
	module, err := pop[string](m)
	if err != nil {
		return err
	}
	return m.global(module + " " + name)
}

func (m *machine) number(op byte) error {
	switch op {
	case 'J':
		v, err := m.uint(4)
		m.push(int64(int32(v)))
		return err
	case 'K':
		v, err := m.uint(1)
		m.push(int64(v))
		return err
	case 'M':
		v, err := m.uint(2)
		m.push(int64(v))
		return err
	case 'G':
		var b [8]byte
		_, err := io.ReadFull(m.r, b[:])
		m.push(math.Float64frombits(binary.BigEndian.Uint64(b[:])))
		return noEOF(err)
	}
	n, err := m.uint(1) // LONG1: little endian two's complement
	if err != nil {
		return err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(m.r, b); err != nil {
		return noEOF(err)
	}
	v := new(big.Int)
	for i := len(b) - 1; i >= 0; i-- {
		v.Or(v.Lsh(v, 8), big.NewInt(int64(b[i])))
	}
	if len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if v.IsInt64() {
		m.push(v.Int64())
	} else {
		m.push(v)
	}
	return nil
}

func (m *machine) text(width int) error {
	n, err := m.uint(width)
	if err != nil {
		return err
	}
	if n > maxString {
		return fmt.Errorf("a string of %d bytes", n)
	}
	var b strings.Builder
	if _, err := io.CopyN(&b, m.r, int64(n)); err != nil {
		return noEOF(err)
	}
	m.push(b.String())
	return nil
}

func (m *machine) line() (string, error) {
	b, err := m.r.ReadSlice('\n')
	if err != nil {
		return "", fmt.Errorf("a name without an end: %w", noEOF(err))
	}
	return string(b[:len(b)-1]), nil
}

func (m *machine) remember(op byte) error {
	key := uint64(len(m.memo))
	if op != 0x94 {
		width := 1
		if op == 'r' || op == 'j' {
			width = 4
		}
		var err error
		if key, err = m.uint(width); err != nil {
			return err
		}
	}
	if op == 'h' || op == 'j' {
		v, ok := m.memo[uint32(key)]
		if !ok {
			return fmt.Errorf("memo %d was never set", key)
		}
		m.push(v)
		return nil
	}
	if len(m.stack) == 0 {
		return errors.New("the stack is empty")
	}
	m.memo[uint32(key)] = m.stack[len(m.stack)-1]
	return nil
}

func (m *machine) tuple(op byte) error {
	take := m.toMark
	if op != 't' {
		take = func() ([]any, error) { return m.last(int(op-0x85) + 1) }
	}
	items, err := take()
	if err == nil {
		m.push(tuple(items))
	}
	return err
}

// fill adds to the list or dictionary on the stack.
func (m *machine) fill(op byte) error {
	var items []any
	var err error
	switch op {
	case 'e', 'u':
		items, err = m.toMark()
	case 's':
		items, err = m.last(2)
	default:
		items, err = m.last(1)
	}
	if err != nil {
		return err
	}
	if len(m.stack) == 0 {
		return errors.New("the stack is empty")
	}
	switch to := m.stack[len(m.stack)-1].(type) {
	case *list:
		if op == 'a' || op == 'e' {
			to.items = append(to.items, items...)
			return nil
		}
	case *dict:
		if op == 'b' { // attributes of an OrderedDict, _metadata: not needed
			return nil
		}
		if (op == 's' || op == 'u') && len(items)%2 == 0 {
			for i := 0; i < len(items); i += 2 {
				to.keys, to.values = append(to.keys, items[i]), append(to.values, items[i+1])
			}
			return nil
		}
	}
	return fmt.Errorf("pickle opcode %q on a %T", op, m.stack[len(m.stack)-1])
}

func (m *machine) toMark() ([]any, error) {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if _, ok := m.stack[i].(mark); ok {
			items := slices.Clone(m.stack[i+1:])
			m.stack = m.stack[:i]
			return items, nil
		}
	}
	return nil, errors.New("no mark on the stack")
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

// last takes n values off the stack.
func (m *machine) last(n int) ([]any, error) {
	from := len(m.stack) - n
	if from < 0 {
		return nil, errors.New("the stack is empty")
	}
	items := slices.Clone(m.stack[from:])
	m.stack = m.stack[:from]
	return items, nil
}

func (m *machine) pop() (any, error) {
	if len(m.stack) == 0 {
		return nil, errors.New("the stack is empty")
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

func pop[T any](m *machine) (T, error) {
	var zero T
	v, err := m.pop()
	if err != nil {
		return zero, err
	}
	t, ok := v.(T)
	if !ok {
		return zero, fmt.Errorf("a %T where a %T belongs", v, zero)
	}
	return t, nil
}

func (m *machine) uint(width int) (uint64, error) {
	var b [8]byte
	if _, err := io.ReadFull(m.r, b[:width]); err != nil {
		return 0, noEOF(err)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
