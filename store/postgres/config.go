package postgres

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Config says how a store behaves. The zero value is ready for use.
type Config struct {
	// Clock tells the time of transactions and of the follow-up context. Defaults to the database's
	// clock, which all processes share.
	Clock func() time.Time
	// LightTimeout is how long a follow-up context is kept. Defaults to [dialogue.LightTimeout].
	LightTimeout time.Duration
	// MaxConns bounds the connections to the database. Defaults to 4 for each processor the program
	// may use, and at least 16: most of them wait for the database's disk, which writes what they
	// wait for at once. A Publish keeps one while it sends: with only 1, a Send that reads from the
	// store waits for itself.
	MaxConns int
	// RetryFor is how long an update is tried again after its connection was lost, and a view
	// before its first answer. Defaults to 10 seconds.
	RetryFor time.Duration
	// LockTimeout is how long a statement waits for another transaction's lock before the update
	// ends with store.ErrLocked. Defaults to 10 seconds.
	LockTimeout time.Duration
}

func (c Config) withDefaults() (Config, error) {
	if c.LightTimeout < 0 || c.MaxConns < 0 || c.RetryFor < 0 || c.LockTimeout < 0 {
		return c, invalid.New("config", "LightTimeout, MaxConns, RetryFor and LockTimeout may not be negative", "use 0 for the default")
	}
	if c.LightTimeout == 0 {
		c.LightTimeout = dialogue.LightTimeout
	}
	if c.MaxConns == 0 {
		c.MaxConns = max(16, 4*runtime.GOMAXPROCS(0))
	}
	if c.RetryFor == 0 {
		c.RetryFor = 10 * time.Second
	}
	if c.LockTimeout == 0 {
		c.LockTimeout = 10 * time.Second
	}
	return c, nil
}

const (
	connectTimeout = 5 * time.Second
	// idleTimeout ends the transaction of a process that stopped in the middle of one, so that it
	// does not keep a session locked for ever.
	idleTimeout = time.Minute
	// aliveAfter and aliveEvery find out within half a minute that the server's machine is gone.
	aliveAfter = 15 * time.Second
	aliveEvery = 5 * time.Second
)

// parseURL makes connection settings of a URL. Its errors hold no part of a password, not even of one
// that was written into the URL as it is: such a one may turn up in any part of it.
func parseURL(address string, cfg Config) (*pgx.ConnConfig, error) {
	unreadable := invalid.New("url", "the database's URL cannot be read",
		"write postgres://user:password@host:port/database, special characters of the password as %XX")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, unreadable
	}
	if u.Fragment != "" || strings.Contains(u.EscapedPath()+u.RawQuery, "@") {
		return nil, unreadable
	}
	c, err := pgx.ParseConfig(address)
	if err != nil {
		reason := errors.Unwrap(err)
		password, _ := u.User.Password()
		if reason == nil || password != "" && strings.Contains(reason.Error(), password) {
			return nil, unreadable
		}
		return nil, invalid.New("url", reason.Error(), "")
	}
	switch mode := c.RuntimeParams["synchronous_commit"]; strings.ToLower(mode) {
	case "":
		c.RuntimeParams["synchronous_commit"] = "on"
	case "off", "false", "no", "0":
		return nil, invalid.New("synchronous_commit", mode+" would acknowledge what is not on disk", "leave it out of the URL")
	}
	for name, value := range map[string]string{
		"application_name":                    "turnstone",
		"lock_timeout":                        millis(cfg.LockTimeout),
		"idle_in_transaction_session_timeout": millis(idleTimeout),
	} {
		if _, given := c.RuntimeParams[name]; !given {
			c.RuntimeParams[name] = value
		}
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	c.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: aliveAfter, Interval: aliveEvery, Count: 3}}).DialContext
	return c, nil
}

func millis(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }

// address says where the database is, for messages.
func address(c *pgx.ConnConfig) string {
	hosts := []string{hostPort(c.Host, c.Port)}
	for _, f := range c.Fallbacks {
		if h := hostPort(f.Host, f.Port); h != hosts[len(hosts)-1] {
			hosts = append(hosts, h)
		}
	}
	return fmt.Sprintf("database %s at %s", c.Database, strings.Join(hosts, ", "))
}

func hostPort(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
