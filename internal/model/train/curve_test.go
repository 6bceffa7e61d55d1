package train

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

func curve() *Curve {
	return &Curve{Select: "MRR@10", Points: []Point{
		{Step: 5, Seconds: 1.5, Loss: 3.25, Rate: 1e-3, Metrics: map[string]float64{"MRR@10": 0.25, "Hits@1": 0.5}},
		{Step: 10, Seconds: 3, Loss: 2, Rate: 1e-3, Metrics: map[string]float64{"MRR@10": 0.25}},
	}}
}

func TestCurve(t *testing.T) {
	c := curve()
	if best, ok := c.Best(); !ok || best.Step != 5 {
		t.Errorf("best %+v; of equals the first counts", best)
	}
	var b bytes.Buffer
	testkit.None(t, c.Write(&b))
	got := new(Curve)
	if err := json.NewDecoder(&b).Decode(got); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestEvents reads the records back field by field.
func TestEvents(t *testing.T) {
	var b bytes.Buffer
	testkit.None(t, curve().WriteEvents(&b, time.Unix(1000, 0)))
	// The first record's length and its checksum, as every TensorBoard file has them.
	if head := b.Bytes()[:12]; !bytes.Equal(head, []byte("\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7fK\"")) {
		t.Errorf("the file begins with % x", head)
	}
	var texts []string
	for data := b.Bytes(); len(data) > 0; {
		n := binary.LittleEndian.Uint64(data)
		record := data[12 : 12+n]
		if binary.LittleEndian.Uint32(data[12+n:]) != maskedCRC(record) {
			t.Fatal("checksum of a record")
		}
		data = data[16+n:]
		texts = append(texts, string(record))
	}
	if len(texts) != 3 || !strings.HasSuffix(texts[0], "\x1a\x0dbrain.Event:2") {
		t.Fatalf("records %q", texts)
	}
	if at := math.Float64frombits(binary.LittleEndian.Uint64([]byte(texts[1][1:]))); texts[1][0] != 9 || at != 1001.5 {
		t.Errorf("the first point is of %v", at)
	}
	for _, want := range []string{
		"\x10\x05", // step 5
		"\x0a\x11\x0a\x0atrain/loss\x15\x00\x00\x50\x40",
		"\x0a\x12\x0a\x0beval/MRR@10\x15\x00\x00\x80\x3e",
		"\x0a\x12\x0a\x0beval/Hits@1\x15\x00\x00\x00\x3f",
	} {
		testkit.Says(t, texts[1], want)
	}
}
