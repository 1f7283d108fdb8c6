// Go's servers of HTTP (net/http) and TLS (crypto/tls).
package main

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func certificate(name string) *tls.Certificate {
	path := filepath.Join(os.Getenv("CERTIFICATES"), name)
	pair, err := tls.LoadX509KeyPair(path+".pem", path+".key")
	if err != nil {
		log.Fatal(err)
	}
	return &pair
}

func listen(title string) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(title, listener.Addr().(*net.TCPAddr).Port)
	return listener
}

func answer(writer http.ResponseWriter, request *http.Request) {
	io.Copy(io.Discard, request.Body)
	seen := []string{request.Host, request.RequestURI, request.Proto, ""}
	fmt.Fprintf(writer, "<<%s>>", strings.Join(seen, "\x1f"))
}

// behind is a client whose first bytes were read already.
type behind struct {
	net.Conn
	begun []byte
}

func (client *behind) Read(buffer []byte) (int, error) {
	if len(client.begun) > 0 {
		count := copy(buffer, client.begun)
		client.begun = client.begun[count:]
		return count, nil
	}
	return client.Conn.Read(buffer)
}

// agree reads another protocol up to its last byte before TLS.
func agree(client net.Conn) net.Conn {
	var before []byte
	buffer := make([]byte, 65536)
	for {
		count, err := client.Read(buffer)
		if err != nil {
			return nil
		}
		before = append(before, buffer[:count]...)
		first := -1
		for _, end := range strings.Split(os.Getenv("AGREED"), ",") {
			marker, _ := hex.DecodeString(end)
			if at := bytes.Index(before, marker); at >= 0 && (first < 0 || at+len(marker) < first) {
				first = at + len(marker)
			}
		}
		if first >= 0 {
			return &behind{client, before[first:]}
		}
	}
}

func greet(listener net.Listener, config *tls.Config, within bool) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			client.SetDeadline(time.Now().Add(5 * time.Second))
			inner := client
			if within {
				inner = agree(client)
			}
			if inner != nil {
				tls.Server(inner, config).Handshake()
			}
		}()
	}
}

func main() {
	log.SetOutput(io.Discard)
	named := map[string]*tls.Certificate{"a.test": certificate("a.test"), "evil.test": certificate("evil.test")}
	other := certificate("default.test")
	choose := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if found := named[strings.TrimSuffix(strings.ToLower(hello.ServerName), ".")]; found != nil {
			return found, nil
		}
		return other, nil
	}
	config := &tls.Config{GetCertificate: choose, MinVersion: tls.VersionTLS10}
	go greet(listen("tls go"), config, false)
	go greet(listen("starttls go"), config, true)
	server := http.Server{Handler: http.HandlerFunc(answer), ReadTimeout: 5 * time.Second}
	server.Serve(listen("http go"))
}
