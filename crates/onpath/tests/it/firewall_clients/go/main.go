// Command clients has clients by Go's TLS and by quic-go, and a server of HTTP/3.
//
//	clients tls ADDRESS NAME SECONDS    gets /whole of a name by HTTPS, and writes it out
//	clients h3 ADDRESS NAME SECONDS     gets it by HTTP/3
//	clients serve CONTENT CERTIFICATE SEEN   answers by HTTP/3 for all names, and adds each to the file SEEN
//
// It ends with 28 when the time is over and with 56 when the connection is reset, as curl does.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const (
	timedOut = 28
	reset    = 56
	// The longest payload of a segment on Ethernet.
	segment = 1460
)

// firstWrite measures the first thing that is written to a connection.
type firstWrite struct {
	net.Conn
	length int
}

func (c *firstWrite) Write(data []byte) (int, error) {
	if c.length == 0 {
		c.length = len(data)
	}
	return c.Conn.Write(data)
}

func request(name string) *http.Request {
	request, err := http.NewRequest("GET", "https://"+name+"/whole", nil)
	if err != nil {
		panic(err)
	}
	return request
}

// byTLS returns an error too if the ClientHello is in one segment, as it is without a key share that resists quantum computers.
func byTLS(address, name string, end time.Time) ([]byte, error) {
	plain, err := net.DialTimeout("tcp", net.JoinHostPort(address, "443"), time.Until(end))
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	if err := plain.SetDeadline(end); err != nil {
		return nil, err
	}
	measured := &firstWrite{Conn: plain}
	secure := tls.Client(measured, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err := secure.Handshake(); err != nil {
		return nil, err
	}
	if measured.length <= segment {
		return nil, fmt.Errorf("the ClientHello has %d bytes, which one segment has room for", measured.length)
	}
	asked := request(name)
	asked.Close = true
	if err := asked.Write(secure); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(bufio.NewReader(secure), asked)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(response.Body)
}

func byQUIC(address, name string, end time.Time) ([]byte, error) {
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	transport := &http3.Transport{
		TLSClientConfig: &tls.Config{ServerName: name, InsecureSkipVerify: true},
		Dial: func(ctx context.Context, _ string, secure *tls.Config, settings *quic.Config) (*quic.Conn, error) {
			return quic.DialAddrEarly(ctx, net.JoinHostPort(address, "443"), secure, settings)
		},
	}
	defer transport.Close()
	response, err := transport.RoundTrip(request(name).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(response.Body)
}

func serve(content, certificate, seen string) error {
	body, err := os.ReadFile(content)
	if err != nil {
		return err
	}
	names, err := os.OpenFile(seen, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	own, err := tls.LoadX509KeyPair(certificate, certificate)
	if err != nil {
		return err
	}
	saw := func(kind, name string) { fmt.Fprintf(names, "%s %s\n", kind, name) }
	secure := &tls.Config{
		Certificates: []tls.Certificate{own},
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			saw("quic", hello.ServerName)
			return nil, nil
		},
	}
	page := func(writer http.ResponseWriter, asked *http.Request) {
		saw("h3", asked.Host)
		writer.Header().Set("Content-Type", "text/plain")
		writer.Write(body)
	}
	socket, err := net.ListenPacket("udp", ":443")
	if err != nil {
		return err
	}
	fmt.Println("ready")
	server := http3.Server{TLSConfig: http3.ConfigureTLSConfig(secure), Handler: http.HandlerFunc(page)}
	return server.Serve(socket)
}

func get(words []string) ([]byte, error) {
	seconds, err := strconv.Atoi(words[3])
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	if words[0] == "tls" {
		return byTLS(words[1], words[2], end)
	}
	return byQUIC(words[1], words[2], end)
}

func main() {
	words := os.Args[1:]
	if len(words) != 4 {
		fmt.Fprintln(os.Stderr, "see the head of main.go")
		os.Exit(2)
	}
	var body []byte
	var err error
	if words[0] == "serve" {
		err = serve(words[1], words[2], words[3])
	} else {
		body, err = get(words)
	}
	if err == nil {
		os.Stdout.Write(body)
		return
	}
	fmt.Fprintln(os.Stderr, err)
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		os.Exit(timedOut)
	case errors.Is(err, syscall.ECONNRESET):
		os.Exit(reset)
	}
	os.Exit(1)
}
