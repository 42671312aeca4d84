package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

// What an image or a recording is said to be is one of the known types: everything else is refused by name.
func TestMediaTypesThatAreRefused(t *testing.T) {
	c := start(t, turnstone.Config{}, server.Config{})
	c.say("s", "hello")
	for _, media := range []string{"text/html", "image/x", "image/", "audio/ogg", "image/png; charset=utf-8", "png", "application/octet-stream"} {
		image := `{"role":"user","form":"image","content":{"media_type":"` + media + `","data":"aGk="}}`
		for path, field := range map[string]string{"/sessions/s/turns": "turns[0].content.media_type", "/sessions/s/commit": "turns[0].content.media_type"} {
			var told server.Problem
			c.want(http.StatusBadRequest, &told, "POST", path, `{"turns":[`+image+`]}`)
			if told.Field != field || !strings.Contains(told.Detail, "image/png, image/jpeg") {
				t.Errorf("%s, %s: %+v", path, media, told)
			}
		}
	}
	var told server.Problem
	for _, media := range []string{"text/html", "video/mp4", "image/png", "audio/"} {
		c.want(http.StatusBadRequest, &told, "POST", "/sessions/s/turns",
			`{"turns":[{"role":"user","form":"speech","content":{"transcript":"Hm","audio":{"media_type":"`+media+`","data":"aGk="}}}]}`)
		if told.Field != "turns[0].content.audio.media_type" || !strings.Contains(told.Detail, "audio/mpeg") {
			t.Errorf("%s: %+v", media, told)
		}
	}
	for _, content := range []string{
		`{"role":"user","form":"image","content":{"media_type":"image/webp","data":"aGk="}}`,
		`{"role":"user","form":"image","content":{"media_type":"Image/PNG","data":"aGk="}}`,
		`{"role":"user","form":"speech","content":{"transcript":"Hm","audio":{"media_type":"audio/webm;codecs=opus","data":"aGk="}}}`,
	} {
		c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns", `{"turns":[`+content+`]}`)
	}
	for _, path := range []string{"/sessions/s/history/lines", "/sessions/s/history/session"} {
		file := c.want(http.StatusOK, nil, "GET", path, nil).body
		for from, field := range map[string]string{"image/webp": "content.media_type", "audio/webm": "content.audio.media_type"} {
			c.want(http.StatusBadRequest, &told, "POST", "/histories?as=other", strings.Replace(file, from, "text/html", 1), "Content-Type", "application/octet-stream")
			if !strings.Contains(told.Detail, field) {
				t.Errorf("%s: %+v", path, told)
			}
		}
	}
}
