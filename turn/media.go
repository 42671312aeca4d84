package turn

import (
	"slices"
	"strings"
)

// ImageTypes lists the media types that an image may have.
func ImageTypes() []string {
	return []string{
		"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/heic", "image/heif", "image/bmp", "image/tiff", "image/svg+xml",
	}
}

// AudioTypes lists the media types that a recording may have, without parameters such as codecs=opus.
func AudioTypes() []string {
	return []string{
		"audio/mpeg", "audio/mp3", "audio/mp4", "audio/m4a", "audio/x-m4a", "audio/aac", "audio/ogg", "audio/opus", "audio/webm", "audio/flac", "audio/x-flac",
		"audio/wav", "audio/wave", "audio/x-wav", "audio/vnd.wave", "audio/aiff", "audio/x-aiff", "audio/amr", "audio/3gpp", "audio/basic", "audio/l16", "audio/pcm",
		"audio/pcm16",
	}
}

// checkMediaType refuses what is not one of the legal types, in any case.
func checkMediaType(field, given string, legal []string) error {
	if err := checkShort(field, given, true); err != nil {
		return err
	}
	kind, _, parameters := strings.Cut(given, ";")
	if parameters && strings.HasPrefix(legal[0], "image/") || !slices.Contains(legal, strings.ToLower(strings.TrimSpace(kind))) {
		return fieldErrorf(field, "use "+strings.Join(legal, ", "), "invalid media type %q", given)
	}
	return nil
}
