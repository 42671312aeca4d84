package lite_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
)

// disk is a model of one that a file and its log are on, and of the system before it. A sync that fails leaves the system
// with pages that it takes for written. What is written to them again does not become durable until they are gone from its
// memory, as with ext4.
type disk struct {
	rng     *rand.Rand
	durable [2][]byte
	pending [2][]change       // may be durable or not
	stuck   [2]map[int64]bool // pages
	failed  [2]int            // how many syncs did
	fails   func(log bool) bool
	before  func() // each change and each sync
}

type change struct {
	at   int64
	data []byte // nil where the file ends there
}

const diskPage = 4096

func newDisk(rng *rand.Rand, file, log []byte) *disk {
	return &disk{
		rng: rng, durable: [2][]byte{file, log}, stuck: [2]map[int64]bool{{}, {}},
		fails: func(bool) bool { return false }, before: func() {},
	}
}

func (c change) to(data []byte) []byte {
	if c.data == nil {
		return data[:min(int64(len(data)), c.at)]
	}
	if end := c.at + int64(len(c.data)); int64(len(data)) < end {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[c.at:], c.data)
	return data
}

// opened is a file of the disk that is open: of each failure it is told once, unless it was opened later.
type opened struct {
	*disk
	told [2]int
}

func (d *disk) open() *opened { return &opened{d, d.failed} }

func which(log bool) int {
	if log {
		return 1
	}
	return 0
}

func (d *disk) Write(log bool, at int64, data []byte) {
	d.before()
	for len(data) > 0 {
		n := min(int64(len(data)), diskPage-at%diskPage)
		d.pending[which(log)] = append(d.pending[which(log)], change{at, bytes.Clone(data[:n])})
		at, data = at+n, data[n:]
	}
}

func (d *disk) Truncate(log bool, size int64) {
	d.before()
	d.pending[which(log)] = append(d.pending[which(log)], change{at: size})
}

func (o *opened) Sync(log bool) bool {
	o.before()
	i, fails := which(log), o.fails(log)
	for _, c := range o.pending[i] {
		page := c.at / diskPage
		switch {
		case c.data == nil:
			maps.DeleteFunc(o.stuck[i], func(page int64, _ bool) bool { return page*diskPage >= c.at })
			o.durable[i] = c.to(o.durable[i])
		case fails && o.rng.IntN(3) > 0:
			o.stuck[i][page] = true
		case !o.stuck[i][page]:
			o.durable[i] = c.to(o.durable[i])
		}
	}
	o.pending[i] = nil
	if fails {
		o.failed[i]++
	}
	ok := o.told[i] == o.failed[i]
	o.told[i] = o.failed[i]
	o.before()
	return ok
}

func (d *disk) Uncache(log bool, at, n int64) {
	i, dirty := which(log), map[int64]bool{}
	for _, c := range d.pending[i] {
		dirty[c.at/diskPage] = true
	}
	maps.DeleteFunc(d.stuck[i], func(page int64, _ bool) bool {
		return !dirty[page] && page*diskPage >= at && (n == 0 || (page+1)*diskPage <= at+n)
	})
}

// remove is what becomes of a log that was copied when the last connection is closed.
func (d *disk) remove() {
	d.durable[1], d.pending[1] = nil, nil
	clear(d.stuck[1])
}

// cut is what is on the disk when the power goes.
func (d *disk) cut() (after [2][]byte) {
	for i := range after {
		after[i] = bytes.Clone(d.durable[i])
		all, none := d.rng.IntN(3) == 0, d.rng.IntN(3) == 0
		for _, c := range d.pending[i] {
			if (all || !none && d.rng.IntN(2) == 0) && !d.stuck[i][c.at/diskPage] {
				after[i] = c.to(after[i])
			}
		}
	}
	return after
}

// evicting is a disk whose pages are read from it again once the system has forgotten them.
type evicting struct {
	*opened
	path string
}

func (e *evicting) Uncache(log bool, at, n int64) {
	for page := range e.stuck[1] {
		if log && page*diskPage >= at && (n == 0 || (page+1)*diskPage <= at+n) {
			e.read(page * diskPage)
		}
	}
	e.opened.Uncache(log, at, n)
}

func (e *evicting) read(at int64) {
	log, err := os.OpenFile(e.path+"-wal", os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	defer log.Close()
	data := make([]byte, diskPage)
	if at < int64(len(e.durable[1])) {
		copy(data, e.durable[1][at:])
	}
	if _, err := log.WriteAt(data, at); err != nil {
		panic(err)
	}
}
