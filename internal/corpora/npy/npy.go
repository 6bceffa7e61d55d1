package npy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Matrix is a dense row-major matrix: Data has Rows*Cols numbers.
type Matrix struct {
	Data []float32
	Rows int
	Cols int
}

// Row returns row i, which shares the matrix's memory.
func (m Matrix) Row(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// Check returns an error if the fields do not fit together.
func (m Matrix) Check() error {
	if m.Rows < 0 || m.Cols < 1 || len(m.Data) != m.Rows*m.Cols {
		return fmt.Errorf("a matrix of %d rows and %d columns needs %d numbers, it has %d", m.Rows, m.Cols, m.Rows*m.Cols, len(m.Data))
	}
	return nil
}

const magic = "\x93NUMPY"

// Write writes m as NumPy's .npy 1.0, '<f4' in C order, shape (rows, columns), which numpy.load opens.
func Write(w io.Writer, m Matrix) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("embeddings: %w", err)
	}
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", m.Rows, m.Cols)
	header += strings.Repeat(" ", 63-(len(magic)+4+len(header))%64) + "\n"
	b := bufio.NewWriterSize(w, 1<<16)
	b.WriteString(magic + "\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	b.WriteString(header)
	var number [4]byte
	for _, v := range m.Data {
		binary.LittleEndian.PutUint32(number[:], math.Float32bits(v))
		b.Write(number[:])
	}
	return b.Flush()
}

var headerForm = regexp.MustCompile(`^\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \((\d+), (\d+)\), *\} *\n$`)

// Read reads a two-dimensional float32 .npy, also numpy.save's. Memory grows with the data, whatever the header promises.
func Read(r io.Reader) (Matrix, error) {
	v, err := Open(r)
	if err != nil {
		return Matrix{}, err
	}
	m := Matrix{Rows: v.Rows, Cols: v.Cols}
	some := make([]float32, 1<<14)
	for left := int64(v.Rows) * int64(v.Cols); left > 0; left -= int64(len(some)) {
		some = some[:min(left, int64(cap(some)))]
		if err := v.Read(some); err != nil {
			return m, err
		}
		m.Data = append(m.Data, some...)
	}
	return m, v.End()
}

// Vectors reads the numbers of an .npy.
type Vectors struct {
	Rows, Cols int

	b     *bufio.Reader
	bytes []byte
	size  int // bytes of a number
}

// Open reads the header of a two-dimensional float32 .npy.
func Open(r io.Reader) (*Vectors, error) { return open(r, "<f4") }

// OpenAny reads the header of a foreign two-dimensional .npy of float16, float32 or float64, to read its numbers as float32.
func OpenAny(r io.Reader) (*Vectors, error) { return open(r, "<f2", "<f4", "<f8") }

func open(r io.Reader, dtypes ...string) (*Vectors, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	var fixed [8]byte
	if _, err := io.ReadFull(b, fixed[:]); err != nil || string(fixed[:6]) != magic {
		return nil, fmt.Errorf("embeddings: not a .npy file; write them with numpy.save or a step of kind embed")
	}
	width := map[byte]int{1: 2, 2: 4, 3: 4}[fixed[6]] // of the header's length
	if width == 0 {
		return nil, fmt.Errorf("embeddings: version %d of .npy is unknown", fixed[6])
	}
	var length [4]byte
	if _, err := io.ReadFull(b, length[:width]); err != nil {
		return nil, fmt.Errorf("embeddings: header: %w", err)
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size > 1<<16 {
		return nil, fmt.Errorf("embeddings: a header of %d bytes", size)
	}
	header := make([]byte, size)
	if _, err := io.ReadFull(b, header); err != nil {
		return nil, fmt.Errorf("embeddings: header: %w", err)
	}
	parts := headerForm.FindSubmatch(header)
	if parts == nil {
		return nil, fmt.Errorf("embeddings: header %.80q; want a two-dimensional array", header)
	}
	dtype := string(parts[1])
	if !slices.Contains(dtypes, dtype) || string(parts[2]) != "False" {
		return nil, fmt.Errorf("embeddings: dtype %s, fortran_order %s; convert with numpy.ascontiguousarray(x, dtype='<f4')", parts[1], parts[2])
	}
	rows, err1 := strconv.ParseInt(string(parts[3]), 10, 32)
	cols, err2 := strconv.ParseInt(string(parts[4]), 10, 32)
	if err1 != nil || err2 != nil || cols == 0 {
		return nil, fmt.Errorf("embeddings: shape (%s, %s) is out of range", parts[3], parts[4])
	}
	return &Vectors{Rows: int(rows), Cols: int(cols), b: b, size: int(dtype[2] - '0')}, nil
}

// Read fills to with the next numbers.
func (v *Vectors) Read(to []float32) error {
	v.bytes = slices.Grow(v.bytes[:0], v.size*len(to))[:v.size*len(to)]
	if _, err := io.ReadFull(v.b, v.bytes); err != nil {
		return fmt.Errorf("embeddings: the file ends within the %d by %d numbers of its header: %w", v.Rows, v.Cols, err)
	}
	for i := range to {
		switch at := v.bytes[v.size*i:]; v.size {
		case 2:
			to[i] = halfFloat(binary.LittleEndian.Uint16(at))
		case 4:
			to[i] = math.Float32frombits(binary.LittleEndian.Uint32(at))
		default:
			to[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(at)))
		}
	}
	return nil
}

// halfFloat returns the float16 of bits.
func halfFloat(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15)<<31, uint32(bits>>10&31), uint32(bits&1023)<<13
	if exponent == 31 { // infinite, or no number
		return math.Float32frombits(sign | 0xff<<23 | fraction)
	}
	return math.Float32frombits(sign|exponent<<23|fraction) * 0x1p112 // the difference of the exponents' biases
}

// End checks that nothing follows the last number.
func (v *Vectors) End() error {
	if _, err := v.b.ReadByte(); err != io.EOF {
		return fmt.Errorf("embeddings: more bytes than %d by %d numbers", v.Rows, v.Cols)
	}
	return nil
}
