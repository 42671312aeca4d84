package natsbus

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/event"
)

var (
	encode = strings.NewReplacer(".", "=2E", ":", "=3A")
	decode = strings.NewReplacer("=2E", ".", "=3A", ":")
)

// Token writes the name of a tenant, session or daemon as one word of a subject: "." becomes "=2E" and
// ":" becomes "=3A".
func Token(name string) string { return encode.Replace(name) }

// maxDurable is how many bytes the name of a consumer may have.
const maxDurable = 255

// durable names the consumer of a daemon. Where it would be too long, a hash takes the place of its end, behind a "=" as no
// name has it.
func durable(daemon string) string {
	name := "daemon-" + Token(daemon)
	if len(name) <= maxDurable {
		return name
	}
	end := fmt.Sprintf("=%x", sha256.Sum256([]byte(name)))
	return name[:maxDurable-len(end)] + end
}

// Headers of an export's message, besides Nats-Msg-Id.
const (
	HeaderExport = "Turnstone-Export" // export_id
	HeaderTurn   = "Turnstone-Turn"   // the id of the turn that opened the exchange
)

func (b *Bus) exportSubject(m event.Message) string {
	return b.prefix + ".export." + Token(m.Tenant) + "." + Token(m.Session)
}

// parse returns who an export's subject is about.
func (b *Bus) parse(subject string) (tenant, session string, err error) {
	rest, ours := strings.CutPrefix(subject, b.prefix+".export.")
	tenant, session, two := strings.Cut(rest, ".")
	if !ours || !two || strings.Contains(session, ".") {
		return "", "", fmt.Errorf("subject %q is not %s.export.<tenant>.<session>", subject, b.prefix)
	}
	return decode.Replace(tenant), decode.Replace(session), nil
}
