package torchfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
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

// machine runs one pickle. After the first error its steps change nothing that matters: unpickle returns the error.
type machine struct {
	r     *bufio.Reader
	stack []any
	memo  map[uint32]any
	err   error
}

// fail notes the first error.
func (m *machine) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

func unpickle(r *bufio.Reader) (any, error) {
	m := &machine{r: r, memo: map[uint32]any{}}
	for range maxSteps {
		op, err := r.ReadByte()
		if err != nil {
			return nil, fmt.Errorf("the pickle ends early: %w", noEOF(err))
		}
		if op == '.' {
			v := m.pop()
			return v, m.err
		}
		if m.step(op); m.err != nil {
			return nil, m.err
		}
	}
	return nil, fmt.Errorf("the pickle has more than %d steps", maxSteps)
}

func (m *machine) step(op byte) {
	switch op {
	case 0x80: // PROTO
		if v := m.uint(1); v < 2 || v > 5 {
			m.fail("pickle protocol %d; 2 to 5 are read", v)
		}
	case 0x95: // FRAME
		m.uint(8)
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
	case 'J': // BININT
		m.push(int64(int32(m.uint(4))))
	case 'K': // BININT1
		m.push(int64(m.uint(1)))
	case 'M': // BININT2
		m.push(int64(m.uint(2)))
	case 'G': // BINFLOAT
		m.push(math.Float64frombits(bits.ReverseBytes64(m.uint(8))))
	case 0x8a: // LONG1
		m.long(m.read(m.uint(1)))
	case 'X': // BINUNICODE
		m.text(4)
	case 'U', 0x8c: // SHORT_BINSTRING, SHORT_BINUNICODE
		m.text(1)
	case 'c': // GLOBAL
		module := m.line()
		m.global(module, m.line())
	case 0x93: // STACK_GLOBAL
		name := pop[string](m)
		m.global(pop[string](m), name)
	case 'q': // BINPUT
		m.remember(m.uint(1))
	case 'r': // LONG_BINPUT
		m.remember(m.uint(4))
	case 0x94: // MEMOIZE
		m.remember(uint64(len(m.memo)))
	case 'h': // BINGET
		m.recall(m.uint(1))
	case 'j': // LONG_BINGET
		m.recall(m.uint(4))
	case 't': // TUPLE
		m.push(tuple(m.toMark()))
	case 0x85, 0x86, 0x87: // TUPLE1, TUPLE2, TUPLE3
		m.push(tuple(m.last(int(op-0x85) + 1)))
	case 'a': // APPEND
		m.fill(op, m.last(1))
	case 'e', 'u': // APPENDS, SETITEMS
		m.fill(op, m.toMark())
	case 's': // SETITEM
		m.fill(op, m.last(2))
	case 'b': // BUILD
		m.fill(op, m.last(1))
	case 'Q': // BINPERSID
		m.push(persistent{pop[tuple](m)})
	case 'R': // REDUCE
		m.reduce()
	default:
		m.fail("pickle opcode 0x%02x, which no dictionary of tensors needs; the file is refused", op)
	}
}

// reduce is a call, by one of three names.
func (m *machine) reduce() {
	args := pop[tuple](m)
	name := pop[global](m)
	switch {
	case name == "collections OrderedDict" && len(args) == 0:
		m.push(&dict{})
	case name == "torch._utils _rebuild_tensor_v2" && len(args) >= 4, name == "torch._utils _rebuild_tensor_v3" && len(args) >= 7:
		m.push(rebuilt{args})
	case name == "torch._utils _rebuild_parameter" && len(args) >= 1:
		t, ok := args[0].(rebuilt)
		if !ok {
			m.fail("a parameter that is not a tensor")
		}
		m.push(t)
	default:
		m.fail("the pickle calls %q with %d arguments; the file is refused", string(name), len(args))
	}
}

func (m *machine) global(module, name string) {
	name = module + " " + name
	if !allowed(name) {
		m.fail("the pickle names %q, which no dictionary of tensors needs; the file is refused", name)
	}
	m.push(global(name))
}

// long is a number in little endian two's complement.
func (m *machine) long(b []byte) {
	slices.Reverse(b)
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if v.IsInt64() {
		m.push(v.Int64())
	} else {
		m.push(v)
	}
}

func (m *machine) text(width int) {
	n := m.uint(width)
	if n > maxString {
		m.fail("a string of %d bytes", n)
		return
	}
	m.push(string(m.read(n)))
}

func (m *machine) line() string {
	b, err := m.r.ReadSlice('\n')
	if err != nil {
		m.fail("a name without an end: %w", noEOF(err))
		return ""
	}
	return string(b[:len(b)-1])
}

func (m *machine) remember(key uint64) { m.memo[uint32(key)] = m.top() }

func (m *machine) recall(key uint64) {
	v, ok := m.memo[uint32(key)]
	if !ok {
		m.fail("memo %d was never set", key)
	}
	m.push(v)
}

// fill adds to the list or dictionary on the stack.
func (m *machine) fill(op byte, items []any) {
	switch to := m.top().(type) {
	case *list:
		if op == 'a' || op == 'e' {
			to.items = append(to.items, items...)
			return
		}
	case *dict:
		if op == 'b' { // attributes of an OrderedDict, _metadata: not needed
			return
		}
		if (op == 's' || op == 'u') && len(items)%2 == 0 {
			for pair := range slices.Chunk(items, 2) {
				to.keys, to.values = append(to.keys, pair[0]), append(to.values, pair[1])
			}
			return
		}
	}
	m.fail("pickle opcode %q on a %T", op, m.top())
}

func (m *machine) toMark() []any {
	for i, v := range slices.Backward(m.stack) {
		if _, ok := v.(mark); ok {
			items := m.last(len(m.stack) - i)
			return items[1:]
		}
	}
	m.fail("no mark on the stack")
	return nil
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

// last takes n values off the stack; none where there are fewer.
func (m *machine) last(n int) []any {
	from := len(m.stack) - n
	if from < 0 {
		m.fail("the stack is empty")
		return nil
	}
	items := slices.Clone(m.stack[from:])
	m.stack = m.stack[:from]
	return items
}

// top is the last value of the stack, or nil.
func (m *machine) top() any {
	if len(m.stack) == 0 {
		m.fail("the stack is empty")
		return nil
	}
	return m.stack[len(m.stack)-1]
}

func (m *machine) pop() any {
	v := m.top()
	m.last(1)
	return v
}

func pop[T any](m *machine) T {
	v := m.pop()
	t, ok := v.(T)
	if !ok {
		m.fail("a %T where a %T belongs", v, t)
	}
	return t
}

// read reads n bytes; of a pickle that ends before them none.
func (m *machine) read(n uint64) []byte {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, m.r, int64(n)); err != nil {
		m.fail("the pickle ends early: %w", noEOF(err))
		return nil
	}
	return b.Bytes()
}

func (m *machine) uint(width int) uint64 {
	var b [8]byte
	if _, err := io.ReadFull(m.r, b[:width]); err != nil {
		m.fail("the pickle ends early: %w", noEOF(err))
	}
	return binary.LittleEndian.Uint64(b[:])
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
