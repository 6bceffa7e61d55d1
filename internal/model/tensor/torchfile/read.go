package torchfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/safetensors"
)

const maxPickle = 16 << 20

// Info is one tensor of a file.
type Info struct {
	Name    string
	DType   string // as safetensors names it: "F32", "BF16", "I64" …; of numbers that cannot be read, as torch does
	Shape   []int64
	storage string
	offset  int64   // bytes into the storage
	width   int64   // bytes of an element; 0: they cannot be read
	bytes   int64   // of all elements
	strides []int64 // in bytes; nil: it lies in row order
	span    int64   // bytes from its first element to the end of its last one
}

// File is an open file: its tensors, in the order of its dictionary.
type File struct {
	Tensors []Info

	r        io.ReaderAt
	storages map[string]section
}

type section struct{ begin, size int64 }

// Open reads the dictionary of a file of size bytes and checks that every tensor lies inside of it.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, storages: map[string]section{}}
	var magic [2]byte
	if _, err := r.ReadAt(magic[:], 0); err != nil {
		return nil, fmt.Errorf("torch file: %w", err)
	}
	dictionary := f.openLegacy
	if string(magic[:]) == "PK" {
		dictionary = f.openZip
	}
	value, err := dictionary(size)
	if err == nil {
		err = f.collect(value)
	}
	if err != nil {
		return nil, fmt.Errorf("torch file: %w", err)
	}
	return f, nil
}

// openZip finds NAME/data.pkl and the storages NAME/data/KEY, which are stored without compression.
func (f *File) openZip(size int64) (any, error) {
	z, err := zip.NewReader(f.r, size)
	if err != nil {
		return nil, fmt.Errorf("%w; is it cut off?", err)
	}
	var dictionary *zip.File
	for _, e := range z.File {
		if strings.HasSuffix(e.Name, "/data.pkl") && strings.Count(e.Name, "/") == 1 {
			dictionary = e
		}
		_, key, ok := strings.Cut(e.Name, "/data/")
		if !ok {
			continue
		}
		begin, err := e.DataOffset()
		if err != nil {
			return nil, err
		}
		n := int64(e.UncompressedSize64)
		if e.Method != zip.Store || n < 0 || begin > size || n > size-begin {
			return nil, fmt.Errorf("%q is compressed or cut off", e.Name)
		}
		f.storages[key] = section{begin, n}
	}
	if dictionary == nil {
		return nil, errors.New("no data.pkl; it is a zip file, but not one of torch.save")
	}
	if dictionary.Method != zip.Store {
		return nil, errors.New("data.pkl is compressed, which torch.save does not do; the file is refused")
	}
	if dictionary.UncompressedSize64 > maxPickle {
		return nil, fmt.Errorf("data.pkl has %d bytes", dictionary.UncompressedSize64)
	}
	r, err := dictionary.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return unpickle(bufio.NewReader(io.LimitReader(r, maxPickle)))
}

// openLegacy reads four pickles (magic number, protocol, system, dictionary), a
// fifth with the order of the storages, then each one's length and numbers.
func (f *File) openLegacy(size int64) (any, error) {
	pickles := io.NewSectionReader(f.r, 0, min(size, maxPickle))
	r := bufio.NewReader(pickles)
	var values [5]any
	for i := range values {
		var err error
		if values[i], err = unpickle(r); err != nil {
			return nil, err
		}
		if magic, ok := values[0].(fmt.Stringer); !ok || magic.String() != "119547037146038801333356" {
			return nil, errors.New("neither a zip file nor one of an older torch.save")
		}
		if i == 2 {
			if little := lookup(values[2], "little_endian"); little != true {
				return nil, errors.New("written on a big-endian machine")
			}
		}
	}
	keys, ok := values[4].(*list)
	if !ok {
		return nil, errors.New("no list of storages")
	}
	types, err := storageTypes(values[3])
	if err != nil {
		return nil, err
	}
	at, err := pickles.Seek(-int64(r.Buffered()), io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	for _, k := range keys.items {
		key, ok := k.(string)
		if !ok {
			return nil, errors.New("a storage whose key is not a string")
		}
		var length [8]byte
		if _, err := f.r.ReadAt(length[:], at); err != nil {
			return nil, fmt.Errorf("storage %q: %w; is the file cut off?", key, err)
		}
		n := binary.LittleEndian.Uint64(length[:])
		width := widthOf(types[key])
		at += 8
		if width == 0 {
			return nil, fmt.Errorf("storage %q is of type %q, whose size is not known; save the file with a newer torch", key, types[key])
		}
		if n > uint64(size-at)/uint64(width) {
			return nil, fmt.Errorf("storage %q has %d elements of type %q, more than the file holds", key, n, types[key])
		}
		f.storages[key] = section{at, int64(n) * width}
		at += int64(n) * width
	}
	return values[3], nil
}

// storageTypes are the types of the storages that the tensors of v use.
func storageTypes(v any) (map[string]string, error) {
	d, ok := v.(*dict)
	if !ok {
		return nil, errors.New("not a dictionary of tensors")
	}
	types := map[string]string{}
	for _, value := range d.values {
		if t, ok := value.(rebuilt); ok {
			dtype, key, err := storageOf(t)
			if err != nil {
				return nil, err
			}
			if before, ok := types[key]; ok && before != dtype {
				return nil, fmt.Errorf("storage %q is both %s and %s", key, before, dtype)
			}
			types[key] = dtype
		}
	}
	return types, nil
}

func storageOf(t rebuilt) (dtype, key string, err error) {
	p, ok := t.args[0].(persistent)
	if !ok || len(p.id) < 5 || p.id[0] != "storage" {
		return "", "", errors.New("a tensor without a storage")
	}
	if len(p.id) > 5 && p.id[5] != nil {
		return "", "", errors.New("a view of another storage, as PyTorch before 0.4 wrote them; save the file with a newer one")
	}
	name, ok := p.id[1].(global)
	key, isText := p.id[2].(string)
	if !ok || !isText {
		return "", "", errors.New("a storage without a type or a name")
	}
	if len(t.args) > 6 { // of _rebuild_tensor_v3
		if of, ok := t.args[6].(global); ok {
			name = of
		}
	}
	return cmp.Or(storages[string(name)], strings.TrimPrefix(string(name), "torch ")), key, nil
}

// widthOf is how many bytes a number takes, or 0.
func widthOf(dtype string) int64 {
	width, _ := safetensors.Size(dtype, nil)
	return width
}

// collect turns the dictionary into Tensors.
func (f *File) collect(value any) error {
	d, ok := value.(*dict)
	if !ok {
		return fmt.Errorf("it holds a %T, not a dictionary of tensors", value)
	}
	seen := map[string]bool{}
	for i, k := range d.keys {
		name, ok := k.(string)
		if !ok {
			return fmt.Errorf("a key of type %T", k)
		}
		t, ok := d.values[i].(rebuilt)
		if !ok {
			return fmt.Errorf("%q is a %T, not a tensor; files with more than a dictionary of tensors are not read", name, d.values[i])
		}
		info, err := f.tensor(name, t)
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if seen[name] {
			return fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
		f.Tensors = append(f.Tensors, info)
	}
	return nil
}

func (f *File) tensor(name string, t rebuilt) (Info, error) {
	dtype, key, err := storageOf(t)
	if err != nil {
		return Info{}, err
	}
	offset, ok := t.args[1].(int64)
	shape, whole := ints(t.args[2])
	if !ok || !whole {
		return Info{}, errors.New("its offset or shape has other values than integers")
	}
	strides, whole := ints(t.args[3])
	if !whole || len(strides) != len(shape) {
		return Info{}, errors.New("its strides do not fit its shape")
	}
	width := widthOf(dtype)
	info := Info{Name: name, DType: dtype, Shape: shape, storage: key, width: width}
	if width == 0 {
		return info, nil
	}
	if info.bytes, err = safetensors.Size(dtype, shape); err != nil {
		return Info{}, err
	}
	storage, ok := f.storages[key]
	outside := fmt.Errorf("shape %v with strides %v from element %d on lies outside of storage %q of %d bytes", shape, strides, offset, key, storage.size)
	left := storage.size/width - offset // elements from the first one on
	if !ok || offset < 0 || left < 0 || info.bytes/width > storage.size/width {
		return Info{}, outside
	}
	info.offset = offset * width
	if info.bytes == 0 {
		return info, nil
	}
	last, inOrder, n := int64(0), true, int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] == 1 {
			continue
		}
		if strides[i] < 0 || strides[i] > 0 && shape[i]-1 > (left-last)/strides[i] {
			return Info{}, outside
		}
		last += (shape[i] - 1) * strides[i]
		inOrder = inOrder && strides[i] == n
		n *= shape[i]
	}
	if last >= left {
		return Info{}, outside
	}
	info.span = (last + 1) * width
	if !inOrder {
		for _, stride := range strides {
			info.strides = append(info.strides, stride*width)
		}
	}
	return info, nil
}

// ints are a tuple's; false if v is none, or has other values too.
func ints(v any) (all []int64, ok bool) {
	t, ok := v.(tuple)
	for _, v := range t {
		n, whole := v.(int64)
		all, ok = append(all, n), ok && whole
	}
	return all, ok
}

func lookup(v any, key string) any {
	if d, ok := v.(*dict); ok {
		if i := slices.Index(d.keys, any(key)); i >= 0 {
			return d.values[i]
		}
	}
	return nil
}

// Open is a tensor's bytes, in row order and little endian. The first Read is an error if numbers of the type cannot be
// read.
func (f *File) Open(t Info) io.Reader {
	if t.width == 0 {
		return unread{fmt.Errorf("numbers of type %s are not read", t.DType)}
	}
	lying := io.NewSectionReader(f.r, f.storages[t.storage].begin+t.offset, t.span)
	if t.strides == nil {
		return lying
	}
	data, err := io.ReadAll(lying)
	if err != nil {
		return unread{err}
	}
	return bytes.NewReader(t.inOrder(make([]byte, 0, t.bytes), data, 0))
}

// unread is a Reader of nothing but an error.
type unread struct{ error }

func (u unread) Read([]byte) (int, error) { return 0, u.error }

// inOrder appends the elements of data, from dimension dim on.
func (t Info) inOrder(to, data []byte, dim int) []byte {
	if dim == len(t.Shape) {
		return append(to, data[:t.width]...)
	}
	for i := range t.Shape[dim] {
		to = t.inOrder(to, data[i*t.strides[dim]:], dim+1)
	}
	return to
}
