package train

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// WriteEvents writes the curve as a TensorBoard event file, to be named events.out.tfevents.SOMETHING: scalars
// train/loss, train/lr and eval/METRIC. start is the wall clock of step 0.
func (c *Curve) WriteEvents(w io.Writer, start time.Time) error {
	if err := writeRecord(w, event(start, 0, appendBytes(nil, 3, []byte("brain.Event:2")))); err != nil {
		return err
	}
	for _, p := range c.Points {
		values := scalar(nil, "train/loss", p.Loss)
		values = scalar(values, "train/lr", p.Rate)
		for _, name := range slices.Sorted(maps.Keys(p.Metrics)) {
			values = scalar(values, "eval/"+name, p.Metrics[name])
		}
		at := start.Add(time.Duration(p.Seconds * float64(time.Second)))
		if err := writeRecord(w, event(at, p.Step, appendBytes(nil, 5, values))); err != nil {
			return err
		}
	}
	return nil
}

// writeRecord frames data as TensorFlow's record writer does: length, its masked CRC-32C, data, its masked CRC-32C.
func writeRecord(w io.Writer, data []byte) error {
	var head [12]byte
	binary.LittleEndian.PutUint64(head[:], uint64(len(data)))
	binary.LittleEndian.PutUint32(head[8:], maskedCRC(head[:8]))
	out := append(head[:], data...)
	out = binary.LittleEndian.AppendUint32(out, maskedCRC(data))
	_, err := w.Write(out)
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func maskedCRC(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// event is tensorflow.Event: wall_time = 1, step = 2, and what.
func event(at time.Time, step int64, what []byte) []byte {
	b := protowire.AppendTag(nil, 1, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, math.Float64bits(float64(at.UnixNano())/1e9))
	if step > 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), uint64(step))
	}
	return append(b, what...)
}

// scalar appends tensorflow.Summary.Value (1): tag = 1, simple_value = 2.
func scalar(b []byte, tag string, v float64) []byte {
	value := protowire.AppendTag(appendBytes(nil, 1, []byte(tag)), 2, protowire.Fixed32Type)
	return appendBytes(b, 1, protowire.AppendFixed32(value, math.Float32bits(float32(v))))
}

func appendBytes(b []byte, field protowire.Number, data []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), data)
}
