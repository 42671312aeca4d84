package main

import (
	"os"
	"sync"
)

// fileLog is the baseline that no database can beat: bytes appended to a file, one fsync for all
// that wait, each caller answered after it.
type fileLog struct {
	file  *os.File
	queue chan record
	done  sync.WaitGroup
}

type record struct {
	data   []byte
	answer chan error
}

func openFileLog(path string) (*fileLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	l := &fileLog{file: f, queue: make(chan record, 256)}
	l.done.Go(l.write)
	return l, nil
}

func (l *fileLog) write() {
	var batch []record
	var buf []byte
	for r := range l.queue {
		batch, buf = append(batch[:0], r), append(buf[:0], r.data...)
		for len(batch) < 128 && len(l.queue) > 0 {
			r := <-l.queue
			batch, buf = append(batch, r), append(buf, r.data...)
		}
		_, err := l.file.Write(buf)
		if err == nil {
			err = l.file.Sync()
		}
		for _, r := range batch {
			r.answer <- err
		}
	}
}

// append returns once the data is on disk. The answer channel is the caller's to use again.
func (l *fileLog) append(data []byte, answer chan error) error {
	l.queue <- record{data, answer}
	return <-answer
}

func (l *fileLog) close() error {
	close(l.queue)
	l.done.Wait()
	return l.file.Close()
}
