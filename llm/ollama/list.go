package ollama

import (
	"context"
	"fmt"
)

// Listed is a model that a server has.
type Listed struct {
	Name   string // llama3.2:latest
	Digest string // changes when the model does
	Bytes  int64  // its size on the server's disk
}

// List returns the models that the server has, in the server's order: the ones changed last first. An
// *[AnswerError] if the answer cannot be right.
func (c *Client) List(ctx context.Context) ([]Listed, error) {
	var all []Listed
	err := c.ask(ctx, tagsEndpoint, "", nil, maxAnswer, func(r *reader) error {
		return eachTag(r, func(l Listed) { all = append(all, l) })
	})
	if err != nil {
		return nil, fmt.Errorf("models of the server: %w", err)
	}
	return all, nil
}

// eachTag reads the list of models.
func eachTag(r *reader, each func(Listed)) error {
	return r.members("the answer", func(name string) error {
		if name != "models" {
			return r.skip()
		}
		return r.elements(name, maxModels, func() error {
			l, err := readTag(r)
			if err == nil {
				each(l)
			}
			return err
		})
	})
}

// readTag reads one model of the list.
func readTag(r *reader) (l Listed, err error) {
	err = r.members("models[]", func(field string) (err error) {
		switch field {
		case "name":
			l.Name, err = r.string("models[].name")
		case "digest":
			l.Digest, err = r.string("models[].digest")
		case "size":
			l.Bytes, err = r.whole("models[].size", 64)
		default:
			err = r.skip()
		}
		return err
	})
	return l, err
}
