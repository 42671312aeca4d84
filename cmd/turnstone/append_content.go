package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/turn"
)

// content is what --text, --file or standard input hold.
func (a *app) content(ctx context.Context, o appendOptions, bounds turn.Limits) (turn.Content, error) {
	role, form := turn.Role(o.role), turn.Form(o.form)
	if o.file != "" && o.textGiven {
		return nil, usage("describe an image with --alt and a recording with --transcript", "append: --text and --file do not go together")
	}
	if o.file == "" && (o.alt != "" || o.transcript != "" || o.mediaType != "") {
		return nil, usage("give the file with --file", "append: --alt, --transcript and --media-type describe a file")
	}
	if o.file != "" {
		return fileContent(o, bounds)
	}
	if form == "" {
		form = turn.FormText
	}
	if err := turn.Check(role, form); err != nil {
		return nil, err
	}
	if o.text == stdio {
		text, err := a.readInput(ctx, bounds.Text, "--max-text")
		if err != nil {
			return nil, err
		}
		o.text = string(text)
	}
	if o.textGiven {
		return textContent(form, o)
	}
	if terminal.Is(a.stdin) {
		return nil, usage("give it with --text, --file or as JSON on standard input", "append: there is nothing to append")
	}
	data, err := a.readInput(ctx, inputLimit(bounds), "--max-text or --max-blob")
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, usage("give it with --text, --file or as JSON on standard input", "append: standard input is empty")
	}
	if data, err = plainJSON(data); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	return turn.DecodeContent(role, form, string(data))
}

// inputLimit bounds content on standard input by what may become of it: base64 makes three bytes
// four, and an escape makes one byte six.
func inputLimit(bounds turn.Limits) int64 { return 2*bounds.Blob + 6*bounds.Text + 1<<20 }

func textContent(form turn.Form, o appendOptions) (turn.Content, error) {
	switch form {
	case turn.FormText:
		return turn.Text{Text: o.text}, nil
	case turn.FormSpeech:
		return turn.Speech{Transcript: o.text, Language: o.language}, nil
	case turn.FormImage:
		return nil, usage("give the image with --file", "append: an image is no text")
	default:
		return nil, usage("give its JSON on standard input", "append: an action is no text")
	}
}

func fileContent(o appendOptions, bounds turn.Limits) (turn.Content, error) {
	data, err := readFile(o.file, bounds.Blob, "--max-blob")
	if err != nil {
		return nil, err
	}
	mediaType := o.mediaType
	if mediaType == "" {
		mediaType = mediaTypeOf(o.file, data)
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	is := map[string]turn.Form{"image": turn.FormImage, "audio": turn.FormSpeech}[kind]
	if is == "" {
		return nil, usage("give an image or a recording, and its type with --media-type", "file %s: is %s", o.file, mediaType)
	}
	if form := turn.Form(o.form); form != "" && form != is {
		return nil, usage("leave out --form", "file %s: is %s, which is of form %s, not %s", o.file, mediaType, is, form)
	}
	if is == turn.FormImage {
		return turn.Image{MediaType: mediaType, Alt: o.alt, Blob: turn.Blob{Data: data}}, nil
	}
	if o.transcript == "" {
		return nil, usage("say with --transcript what it says", "file %s: a recording needs its words", o.file)
	}
	audio := &turn.Audio{MediaType: mediaType, Blob: turn.Blob{Data: data}}
	return turn.Speech{Transcript: o.transcript, Language: o.language, Audio: audio}, nil
}

// readFile reads a file that may become a turn's bytes; one past the limit is not read whole.
func readFile(path string, limit int64, flags string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(usage("name a file in it", "file %s: is a folder", path), f.Close())
	}
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, usage("make it smaller or raise "+flags, "file %s: more than %d bytes", path, limit)
	}
	if len(data) == 0 {
		return nil, usage("give one that has something in it", "file %s: is empty", path)
	}
	return data, nil
}

// mediaTypes are those of the usual endings. The system's own table differs from machine to machine.
var mediaTypes = map[string]string{
	".avif": "image/avif", ".bmp": "image/bmp", ".gif": "image/gif", ".heic": "image/heic", ".jpeg": "image/jpeg",
	".jpg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml", ".tif": "image/tiff", ".tiff": "image/tiff",
	".webp": "image/webp",
	".aac":  "audio/aac", ".flac": "audio/flac", ".m4a": "audio/mp4", ".mp3": "audio/mpeg", ".oga": "audio/ogg",
	".ogg": "audio/ogg", ".opus": "audio/ogg", ".wav": "audio/wav", ".weba": "audio/webm",
}

func mediaTypeOf(path string, data []byte) string {
	if known, ok := mediaTypes[strings.ToLower(filepath.Ext(path))]; ok {
		return known
	}
	sniffed, _, _ := strings.Cut(http.DetectContentType(data), ";")
	switch sniffed {
	case "audio/wave":
		return "audio/wav"
	case "application/ogg":
		return "audio/ogg"
	}
	return sniffed
}
