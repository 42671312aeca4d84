package memory

import "github.com/turnstone-dev/turnstone/internal/strictjson"

// AppendJSON appends the candidate as one JSON object on one line. What is empty is left out; data
// stands in it byte for byte, as a string under "data_text" where it was written over several lines.
func (c *Candidate) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendText(dst, "type", string(c.Type))
	dst = appendText(dst, "text", c.Text)
	dst = appendRaw(dst, "data", c.Data)
	dst = appendTexts(dst, "tags", c.Tags)
	dst = c.Links.appendMember(dst)
	dst = appendText(dst, "source", string(c.Source))
	if c.Given != (Given{}) {
		dst = append(appendName(dst, "inputs"), '{')
		for i, f := range c.Given.array() {
			if f != nil {
				dst = appendFloat(dst, inputNames[i], *f)
			}
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// DecodeCandidate reads what [Candidate.AppendJSON] wrote, or somebody else: unknown, repeated and
// ill-typed members and what [Candidate.CheckNew] refuses are errors that name the place.
func DecodeCandidate(data string) (Candidate, error) {
	var c Candidate
	err := object(data, "type, text, data, data_text, tags, links, source, inputs",
		func(name string, v strictjson.Raw) (bool, error) {
			var s string
			var err error
			switch name {
			case "type":
				s, err = v.String()
				c.Type = Type(s)
			case "text":
				c.Text, err = v.String()
			case "data", "data_text":
				err = decodeData(&c.Data, name, v)
			case "tags":
				c.Tags, err = list(v, strictjson.Raw.String)
			case "links":
				c.Links, err = decodeLinks(v)
			case "source":
				s, err = v.String()
				c.Source = Source(s)
			case "inputs":
				err = decodeNamed(v, c.Given.set)
			default:
				return false, nil
			}
			return true, err
		})
	if err == nil {
		err = c.CheckNew()
	}
	if err != nil {
		return Candidate{}, err
	}
	return c, nil
}

// decodeData reads data as it is or, from "data_text", out of a string.
func decodeData(data *string, name string, v strictjson.Raw) (err error) {
	if *data != "" {
		return fieldErrorf("", "give data or data_text", "data is given already")
	}
	if *data = string(v); name == "data_text" {
		*data, err = v.String()
	}
	return err
}

// appendMember appends the links as the member "links"; without any it is left out.
func (l *Links) appendMember(dst []byte) []byte {
	if len(l.Turns) == 0 && len(l.Items) == 0 {
		return dst
	}
	dst = append(appendName(dst, "links"), '{')
	dst = appendTexts(dst, "turns", l.Turns)
	dst = appendTexts(dst, "items", l.Items)
	return append(dst, '}')
}

func decodeLinks(v strictjson.Raw) (Links, error) {
	var l Links
	err := object(string(v), "turns, items", func(name string, v strictjson.Raw) (bool, error) {
		var err error
		switch name {
		case "turns":
			l.Turns, err = list(v, strictjson.Raw.String)
		case "items":
			l.Items, err = list(v, strictjson.Raw.String)
		default:
			return false, nil
		}
		return true, err
	})
	return l, err
}
