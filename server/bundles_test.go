package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server"
)

const octets = "application/octet-stream"

func TestBundlesMoveASession(t *testing.T) {
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{})
	committed(t, eng, "a", "I like window seats.", "Noted.", "likes window seats")
	for query, media := range map[string]string{"": "application/x-ndjson", "?compress=true": "application/zstd"} {
		bundle := c.want(http.StatusOK, nil, "GET", "/sessions/a/bundle"+query, nil)
		if got := bundle.header.Get("Content-Type"); got != media {
			t.Errorf("%q is %s", query, got)
		}
		elsewhere := start(t, turnstone.Config{}, server.Config{})
		var made struct {
			Session string `json:"session_id"`
			Turns   int    `json:"turns"`
		}
		elsewhere.want(http.StatusCreated, &made, "POST", "/bundles", bundle.body, "Content-Type", octets)
		if made.Session != "a" || made.Turns != 3 {
			t.Errorf("%+v", made)
		}
		var told server.Problem
		elsewhere.want(http.StatusConflict, &told, "POST", "/bundles", bundle.body, "Content-Type", octets)
		if !strings.HasSuffix(told.Detail, "exists already; give it another id with ?as=") {
			t.Errorf("%s", told.Detail)
		}
		elsewhere.want(http.StatusCreated, nil, "POST", "/bundles?as=same", bundle.body, "Content-Type", bundle.header.Get("Content-Type"))
		elsewhere.want(http.StatusCreated, &made, "POST", "/bundles?as=copy", bundle.body, "Content-Type", octets)
		if made.Session != "copy" {
			t.Errorf("%+v", made)
		}
		here := c.want(http.StatusOK, nil, "GET", "/sessions/a/turns", nil)
		there := elsewhere.want(http.StatusOK, nil, "GET", "/sessions/a/turns", nil)
		if here.body != there.body {
			t.Errorf("%s became %s", here.body, there.body)
		}
		for _, damaged := range []string{bundle.body[:len(bundle.body)-9], bundle.body[:9], strings.Replace(bundle.body, "\n", " \n", 1) + "x", "{}"} {
			elsewhere.want(http.StatusUnprocessableEntity, nil, "POST", "/bundles?as=damaged", damaged, "Content-Type", octets)
			elsewhere.want(http.StatusNotFound, nil, "GET", "/sessions/damaged", nil)
		}
	}
	c.want(http.StatusNotFound, nil, "GET", "/sessions/none/bundle", nil)
}

// What is too large, unpacks to too much, comes too slowly or breaks off is refused, and leaves nothing on the disk.
func TestBundlesAreBounded(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	eng := opened(t, turnstone.Config{})
	c := serve(t, eng, server.Config{Limits: server.Limits{Bundle: 1 << 16}})
	hasty := serve(t, eng, server.Config{Limits: server.Limits{Bundle: 1 << 16, Read: time.Second}})
	packed, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := packed.EncodeAll(bytes.Repeat([]byte("x"), 1<<26), nil)
	if len(bomb) > 1<<15 {
		t.Fatalf("a bomb of %d bytes", len(bomb))
	}
	c.want(http.StatusRequestEntityTooLarge, nil, "POST", "/bundles", strings.Repeat("x", 1<<16+1), "Content-Type", octets)
	c.want(http.StatusRequestEntityTooLarge, nil, "POST", "/bundles", string(bomb), "Content-Type", octets)
	c.want(http.StatusUnprocessableEntity, nil, "POST", "/bundles", strings.Repeat("[", 1<<16), "Content-Type", octets)
	c.want(http.StatusUnsupportedMediaType, nil, "POST", "/bundles", "{}")
	c.want(http.StatusUnprocessableEntity, nil, "POST", "/bundles", "", "Content-Type", octets)
	for _, sent := range []string{"", "x"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(hasty.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "POST /api/v1/bundles HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+octets+"\r\nContent-Length: 1000\r\n\r\n"+sent)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn) // the server gives up and closes it
		if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 408")) {
			t.Errorf("%v: %s", err, answer)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestBlobs(t *testing.T) {
	c := withSession(t, "a")
	data := []byte("<script>alert(1)</script>")
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	c.want(http.StatusCreated, nil, "POST", "/sessions/a/turns", `{"turns":[{"role":"user","form":"image","content":{"media_type":"image/png","data":"`+
		base64.StdEncoding.EncodeToString(data)+`"}}]}`)
	got := c.want(http.StatusOK, nil, "GET", "/blobs/"+strings.ToUpper(name), nil)
	if got.body != string(data) {
		t.Errorf("%q", got.body)
	}
	for header, want := range map[string]string{
		"Content-Type": octets, "X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment", "ETag": `"` + name + `"`,
	} {
		if got.header.Get(header) != want {
			t.Errorf("%s: %s", header, got.header.Get(header))
		}
	}
	c.want(http.StatusNotModified, nil, "GET", "/blobs/"+name, nil, "If-None-Match", `"`+name+`"`)
	c.want(http.StatusNotFound, nil, "GET", "/blobs/"+strings.Repeat("0", 64), nil)
	c.want(http.StatusBadRequest, nil, "GET", "/blobs/none", nil)
}
