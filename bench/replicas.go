package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// replicaCount is how many servers there are on one database.
const replicaCount = 3

// benchReplicas: turns that are appended over HTTP, by 48 connections to sessions of their own, to three servers on one
// PostgreSQL and one NATS against one of them. The ratio is bounded where the database allows it: the same is appended
// by the library, without servers, through three pools and through one. Where the database does not take twice of what
// one server brings it, it is the limit, with the processors that all of them share here, and the line has no bound.
func benchReplicas(ctx context.Context, b *bench) (err error) {
	const connections, each = 48, 25
	cluster, err := pgtest.Start(ctx, pgtest.Options{Durable: true})
	if err != nil {
		return fmt.Errorf("%w; scripts/deps installs PostgreSQL", err)
	}
	defer func() { err = firstError(err, cluster.Stop()) }()
	bus, err := server.NewServer(&server.Options{JetStream: true, StoreDir: b.file("nats"), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	bus.Start()
	defer func() {
		bus.Shutdown()
		bus.WaitForShutdown()
	}()
	if !bus.ReadyForConnections(20 * time.Second) {
		return errors.New("the NATS server does not come up")
	}
	program, err := buildProgram(ctx, b)
	if err != nil {
		return err
	}
	var addrs []string
	for range replicaCount {
		replica, err := startServer(ctx, program, "--store", cluster.URL(), "--bus", bus.ClientURL())
		if err != nil {
			return err
		}
		defer func() { err = firstError(err, replica.stop()) }()
		addrs = append(addrs, replica.addr)
	}
	one, closeOne, err := replicaClients(addrs[:1], "one", connections)
	if err != nil {
		return err
	}
	defer closeOne()
	three, closeThree, err := replicaClients(addrs, "three", connections)
	if err != nil {
		return err
	}
	defer closeThree()
	var engines []*turnstone.Engine
	for range replicaCount {
		st, err := postgres.Open(ctx, cluster.URL(), postgres.Config{})
		if err != nil {
			return err
		}
		eng, err := turnstone.Open(ctx, st, turnstone.Config{})
		if err != nil {
			return firstError(err, st.Close())
		}
		defer func() { err = firstError(err, eng.Close()) }()
		engines = append(engines, eng)
	}
	oneChats, err := sessionsOf(ctx, engines[:1], "l1-", connections)
	if err != nil {
		return err
	}
	threeChats, err := sessionsOf(ctx, engines, "l3-", connections)
	if err != nil {
		return err
	}
	library := func(chats []*turnstone.Session) func() (float64, error) {
		return func() (float64, error) {
			return throughput(connections, each, func(i int) error {
				_, err := chats[i].Append(ctx, userText(oneTurn))
				return err
			})
		}
	}
	serve := func(clients []*appender) func() (float64, error) {
		return func() (float64, error) {
			return throughput(connections, each, func(i int) error { return clients[i].append() })
		}
	}
	m, err := b.interleave(serve(three), serve(one), library(threeChats), library(oneChats))
	if err != nil {
		return err
	}
	b.show(Line{Name: "append 2 KB by 3 pools of the library, PostgreSQL", Ours: m[2], Baseline: m[3], Unit: "turns/s", Against: "1 pool: what the database allows here"})
	line := Line{Name: "append 2 KB over HTTP to 3 servers, PostgreSQL and NATS", Ours: m[0], Baseline: m[1], Unit: "turns/s"}
	if m[2] < 2*m[1] {
		line.Against = fmt.Sprintf("1 server; without servers the database takes %.2g × of that here, so ≥ 2 cannot be had", m[2]/m[1])
		b.show(line)
		return nil
	}
	line.Against = "1 server, where the database allows it"
	b.atLeast(2, line)
	return nil
}

// replicaClients are connections to the servers in turns.
func replicaClients(addrs []string, session string, n int) (clients []*appender, stop func(), err error) {
	stop = func() {
		for _, c := range clients {
			c.conn.Close()
		}
	}
	for i := range n {
		c, err := dialAppender(addrs[i%len(addrs)], fmt.Sprint(session, i))
		if err != nil {
			stop()
			return nil, nil, err
		}
		clients = append(clients, c)
	}
	return clients, stop, nil
}

// sessionsOf are sessions of the engines in turns.
func sessionsOf(ctx context.Context, engines []*turnstone.Engine, name string, n int) ([]*turnstone.Session, error) {
	list := make([]*turnstone.Session, n)
	for i := range list {
		var err error
		if list[i], err = engines[i%len(engines)].Session(ctx, fmt.Sprint(name, i)); err != nil {
			return nil, err
		}
	}
	return list, nil
}
