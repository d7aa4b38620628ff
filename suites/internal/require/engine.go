package require

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// asking bounds the question whether a container engine answers.
const asking = 3 * time.Second

// engine finds a container engine that answers and returns its address, as
// DOCKER_HOST has it. The program in PATH would say nothing: it is the engine
// that tests need.
func engine() (host string, err error) {
	host = os.Getenv("DOCKER_HOST")
	if host == "" {
		host = "unix:///var/run/docker.sock"
	}
	u, err := url.Parse(host)
	if err != nil {
		return "", fmt.Errorf("DOCKER_HOST=%s: %w", host, err)
	}
	network, address := "tcp", u.Host
	if u.Scheme == "unix" {
		network, address = "unix", u.Path
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}, DisableKeepAlives: true}
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://engine/_ping", nil)
	if err != nil {
		return "", err
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers a ping with %s", host, resp.Status)
	}
	return host, nil
}
