package memory

import "github.com/turnstone-dev/turnstone/internal/strictjson"

// AppendJSON appends the item as one JSON object on one line. What is empty is left out; data stands
// in it byte for byte, as a string under "data_text" where it was written over several lines.
func (e *Episode) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendText(dst, "id", e.ID)
	dst = appendText(dst, "type", string(e.Type))
	dst = appendText(dst, "text", e.Text)
	dst = appendRaw(dst, "data", e.Data)
	dst = appendFloat(dst, "importance", fromMillionths(millionths(e.Importance)))
	dst = appendTexts(dst, "tags", e.Tags)
	dst = e.Links.appendMember(dst)
	dst = appendTime(dst, "created_at", e.Created)
	dst = appendTime(dst, "expires_at", e.Expires)
	dst = e.Provenance.appendMember(dst)
	return append(dst, '}')
}

// DecodeEpisode reads what [Episode.AppendJSON] wrote. Unknown, repeated and ill-typed members and
// what [Episode.Check] refuses are errors that name the place.
func DecodeEpisode(data string) (Episode, error) {
	var e Episode
	err := object(data, "id, type, text, data, data_text, importance, tags, links, created_at, expires_at, provenance",
		func(name string, v strictjson.Raw) (known bool, err error) {
			var s string
			switch name {
			case "id":
				e.ID, err = v.String()
			case "type":
				s, err = v.String()
				e.Type = Type(s)
			case "text":
				e.Text, err = v.String()
			case "data", "data_text":
				err = decodeData(&e.Data, name, v)
			case "importance":
				e.Importance, err = v.Float()
			case "created_at":
				e.Created, err = decodeTime(v)
			case "expires_at":
				e.Expires, err = decodeTime(v)
			default:
				return e.decodeAboutMember(name, v)
			}
			return true, err
		})
	if err == nil {
		err = e.Check()
	}
	if err != nil {
		return Episode{}, err
	}
	e.Importance = fromMillionths(millionths(e.Importance))
	return e, nil
}

// appendAbout appends what a row keeps of an item besides its columns.
func (e *Episode) appendAbout(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendTexts(dst, "tags", e.Tags)
	dst = e.Links.appendMember(dst)
	dst = e.Provenance.appendMember(dst)
	return append(dst, '}')
}

func (e *Episode) decodeAbout(about string) error {
	return within("about", object(about, "tags, links, provenance", e.decodeAboutMember))
}

func (e *Episode) decodeAboutMember(name string, v strictjson.Raw) (known bool, err error) {
	switch name {
	case "tags":
		e.Tags, err = list(v, strictjson.Raw.String)
	case "links":
		e.Links, err = decodeLinks(v)
	case "provenance":
		e.Provenance, err = decodeProvenance(v)
	default:
		return false, nil
	}
	return true, err
}

func (p *Provenance) appendMember(dst []byte) []byte {
	dst = append(appendName(dst, "provenance"), '{')
	dst = appendText(dst, "export_id", p.ExportID)
	dst = appendText(dst, "turn_id", p.TurnID)
	dst = appendText(dst, "source", string(p.Source))
	dst = p.Inputs.appendJSON(appendName(dst, "inputs"))
	dst = appendTexts(dst, "notes", p.Notes)
	return append(dst, '}')
}

func decodeProvenance(v strictjson.Raw) (Provenance, error) {
	var p Provenance
	err := object(string(v), "export_id, turn_id, source, inputs, notes", func(name string, v strictjson.Raw) (bool, error) {
		var s string
		var err error
		switch name {
		case "export_id":
			p.ExportID, err = v.String()
		case "turn_id":
			p.TurnID, err = v.String()
		case "source":
			s, err = v.String()
			p.Source = Source(s)
		case "inputs":
			var in [5]float64
			err = decodeNamed(v, func(i int, f float64) { in[i] = f })
			p.Inputs = inputsOf(in)
		case "notes":
			p.Notes, err = list(v, strictjson.Raw.String)
		default:
			return false, nil
		}
		return true, err
	})
	return p, err
}
