package history

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// trajectories reads the chosen one of a list of trajectories, or the only one.
func (im *importer) trajectories() error {
	wanted, count := im.sink.options.Trajectory, 0
	var chosen strictjson.Raw
	var chosenAt place
	one := func() error {
		count++
		at, v, err := im.in.element("trajectory", int64(count))
		if count == max(wanted, 1) {
			chosen, chosenAt = v, at
		}
		return err
	}
	var err error
	if im.shape.first == '[' {
		err = im.in.array(one)
	} else {
		err = one()
	}
	if err != nil {
		return err
	}
	if err := im.in.finish(); err != nil {
		return err
	}
	switch {
	case count == 0:
		return invalid.New("input", "holds no trajectory", "give at least one")
	case wanted == 0 && count > 1:
		return invalid.New("trajectory", fmt.Sprintf("is missing: there are %d", count), fmt.Sprintf("choose one from 1 to %d", count))
	case wanted < 0 || wanted > count:
		return invalid.New("trajectory", fmt.Sprintf("%d is none: there are %d", wanted, count), fmt.Sprintf("choose one from 1 to %d", count))
	}
	return im.trajectory(chosenAt, chosen)
}

// trajectory reads one trajectory. What stands beside its messages is skipped unread: scores are
// written as NaN by some, which is no JSON.
func (im *importer) trajectory(at place, raw strictjson.Raw) error {
	im.in = &input{in: bufio.NewReader(strings.NewReader(string(raw))), line: at.line, limit: im.in.limit}
	var task, trial string
	read := false
	err := im.in.object(func(name string) error {
		if name == "traj" && !read {
			read = true
			return im.messages()
		}
		v, err := im.in.value()
		switch {
		case err != nil:
			return err
		case name == "task_id":
			task = im.headerText(name, v)
		case name == "trial":
			trial = im.headerText(name, v)
		default:
			im.sink.report.otherOfDocument(at, name, v)
		}
		return nil
	})
	if err == nil && !read {
		err = invalid.New(at.String()+": traj", "is missing", "give the messages of the trajectory")
	}
	if task != "" {
		im.got.Header.Title = fmt.Sprintf("task %.60s, trial %.60s", task, trial)
	}
	return err
}
