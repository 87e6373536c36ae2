// Cases with the Go clients of NATS and Redis: client CASE. The server is in EDGE_* variables.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
)

const patience = 20 * time.Second

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(holds bool, what string, values ...interface{}) {
	if !holds {
		panic(fmt.Sprintln("not so:", what, values))
	}
}

func connect(options ...nats.Option) *nats.Conn {
	connection, err := nats.Connect("nats://127.0.0.1:"+os.Getenv("EDGE_NATS_PORT"),
		append([]nats.Option{nats.Timeout(patience), nats.NoReconnect()}, options...)...)
	must(err)
	return connection
}

func publishSubscribe() {
	connection := connect()
	defer connection.Close()
	all, err := connection.SubscribeSync("a.>")
	must(err)
	pool := [2]*nats.Subscription{}
	for i := range pool {
		pool[i], err = connection.QueueSubscribeSync("a.*", "pool")
		must(err)
	}
	message := nats.NewMsg("a.b")
	message.Header.Set("Trace", "abc")
	for i := 0; i < 500; i++ {
		message.Data = []byte(fmt.Sprint(i))
		must(connection.PublishMsg(message))
	}
	for i := 0; i < 500; i++ {
		got, err := all.NextMsg(patience)
		must(err)
		expect(string(got.Data) == fmt.Sprint(i) && got.Header.Get("Trace") == "abc", "in order", got)
	}
	must(connection.FlushTimeout(patience))
	first, _, err := pool[0].Pending()
	must(err)
	second, _, err := pool[1].Pending()
	must(err)
	expect(first > 0 && second > 0 && first+second == 500, "a queue shares", first, second)
}

func requestReply() {
	connection := connect()
	defer connection.Close()
	_, err := connection.Subscribe("service", func(m *nats.Msg) { must(m.Respond(m.Data)) })
	must(err)
	for i := 0; i < 100; i++ {
		reply, err := connection.Request("service", []byte("x"), patience)
		must(err)
		expect(string(reply.Data) == "x", "the answer", reply)
	}
	_, err = connection.Request("nobody", nil, patience)
	expect(errors.Is(err, nats.ErrNoResponders), "no responders", err)
}

func durablePublish() {
	connection := connect()
	defer connection.Close()
	stream, err := connection.JetStream(nats.MaxWait(patience))
	must(err)
	first, err := stream.Publish("sys.job.cancel", []byte("x"), nats.MsgId("same"))
	must(err)
	expect(first.Stream == "CORDUM_SYS" && first.Sequence > 0 && !first.Duplicate, "stored", first)
	again, err := stream.Publish("sys.job.cancel", []byte("x"), nats.MsgId("same"))
	must(err)
	expect(again.Duplicate && again.Sequence == first.Sequence, "a duplicate", again)
	_, err = stream.AccountInfo()
	expect(err != nil, "there is no other JetStream")
}

func drain() {
	connection, other := connect(), connect()
	defer other.Close()
	handled, closed := 0, make(chan bool)
	connection.SetClosedHandler(func(*nats.Conn) { close(closed) })
	_, err := connection.Subscribe("d", func(*nats.Msg) { handled++ })
	must(err)
	must(connection.FlushTimeout(patience))
	for i := 0; i < 200; i++ {
		must(other.Publish("d", nil))
	}
	must(other.FlushTimeout(patience))
	must(connection.FlushTimeout(patience))
	must(connection.Drain())
	<-closed
	expect(handled == 200, "all were handled", handled)
}

func token() {
	connect(nats.Token("s3cret")).Close()
	_, err := nats.Connect("nats://wrong@127.0.0.1:" + os.Getenv("EDGE_NATS_PORT"))
	expect(errors.Is(err, nats.ErrAuthorization), "a wrong token", err)
	payloads(&redis.Options{Password: "s3cret"})
}

func userPassword() {
	connect(nats.UserInfo("ann", "p w")).Close()
	_, err := nats.Connect("nats://ann:wrong@127.0.0.1:" + os.Getenv("EDGE_NATS_PORT"))
	expect(errors.Is(err, nats.ErrAuthorization), "a wrong password", err)
	payloads(&redis.Options{Username: "ann", Password: "p w"})
}

func tlsToBoth() {
	connection := connect(nats.RootCAs(os.Getenv("EDGE_CA")))
	defer connection.Close()
	expect(connection.TLSRequired(), "TLS")
	must(connection.FlushTimeout(patience))
	authority, err := os.ReadFile(os.Getenv("EDGE_CA"))
	must(err)
	pool := x509.NewCertPool()
	expect(pool.AppendCertsFromPEM(authority), "the authority")
	payloads(&redis.Options{TLSConfig: &tls.Config{RootCAs: pool, ServerName: "localhost"}})
	plain := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Getenv("EDGE_RESP_PORT"),
		MaxRetries: -1})
	defer plain.Close()
	expect(plain.Ping(context.Background()).Err() != nil, "nothing is served without TLS")
}

// The server pings every 50 ms, and so does the client: both stay.
func pings() {
	connection := connect(nats.PingInterval(50*time.Millisecond), nats.MaxPingsOutstanding(100))
	defer connection.Close()
	for i := 0; i < 20; i++ {
		time.Sleep(25 * time.Millisecond)
		must(connection.FlushTimeout(patience))
	}
	expect(connection.IsConnected(), "it stays")
}

// A server that does not answer pings is given up.
func pingTimeout() {
	gone := make(chan error, 1)
	connection := connect(nats.PingInterval(50*time.Millisecond), nats.MaxPingsOutstanding(2),
		nats.ClosedHandler(func(closed *nats.Conn) { gone <- closed.LastError() }))
	defer connection.Close()
	must(connection.FlushTimeout(patience))
	fmt.Println("freeze")
	select {
	case err := <-gone:
		expect(errors.Is(err, nats.ErrStaleConnection), "the silence was noticed", err)
	case <-time.After(patience):
		panic("the silence was not noticed")
	}
	fmt.Println("noticed")
}

func reconnect() {
	lost, back := make(chan bool, 1), make(chan bool, 1)
	connection, err := nats.Connect("nats://127.0.0.1:"+os.Getenv("EDGE_NATS_PORT"),
		nats.ReconnectWait(50*time.Millisecond), nats.MaxReconnects(-1),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { lost <- true }),
		nats.ReconnectHandler(func(*nats.Conn) { back <- true }))
	must(err)
	defer connection.Close()
	subscription, err := connection.SubscribeSync("again")
	must(err)
	must(connection.Flush())
	fmt.Println("restart")
	<-lost
	<-back
	must(connection.Publish("again", nil))
	_, err = subscription.NextMsg(patience)
	must(err)
}

func payloads(options *redis.Options) {
	options.Addr = "127.0.0.1:" + os.Getenv("EDGE_RESP_PORT")
	client := redis.NewClient(options)
	defer client.Close()
	background := context.Background()
	must(client.Ping(background).Err())
	expect(client.Get(background, "ctx:1").Err() == redis.Nil, "nothing yet")
	must(client.Set(background, "ctx:1", "value", time.Minute).Err())
	value, err := client.Get(background, "ctx:1").Result()
	must(err)
	left := client.TTL(background, "ctx:1").Val()
	expect(value == "value" && left > 0 && left <= time.Minute, "the value", value, left)
	fresh, err := client.SetNX(background, "ctx:1", "other", time.Minute).Result()
	must(err)
	expect(!fresh, "it is taken")
	pipe := client.Pipeline()
	for i := 0; i < 1000; i++ {
		pipe.Set(background, fmt.Sprint("res:", i), i, 0)
		pipe.Get(background, fmt.Sprint("res:", i))
	}
	_, err = pipe.Exec(background)
	must(err)
	expect(client.Get(background, "job:1").Err() != nil, "no such keys here")
	expect(client.Del(background, "ctx:1").Val() == 1, "gone")
}

func main() {
	cases := map[string]func(){
		"publish_subscribe": publishSubscribe, "request_reply": requestReply,
		"durable_publish": durablePublish, "drain": drain, "token": token,
		"user_password": userPassword, "tls": tlsToBoth, "reconnect": reconnect,
		"pings": pings, "ping_timeout": pingTimeout,
		"payloads": func() { payloads(&redis.Options{}) },
	}
	run, known := cases[os.Args[1]]
	if !known {
		os.Exit(2)
	}
	run()
	fmt.Println("passed")
}
