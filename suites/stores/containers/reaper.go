package containers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"

	"github.com/routeproof/routeproof/suites/stores/internal/admin"
)

// reaping starts reapers as testcontainers wants them, but of our image, and with
// their port on the loopback: whoever reaches it can remove what tests are using.
type reaping struct {
	*testcontainers.DockerProvider
	image string
}

func (r reaping) RunContainer(ctx context.Context, req testcontainers.ContainerRequest) (testcontainers.Container, error) {
	req.Image = r.image
	modify := req.HostConfigModifier
	req.HostConfigModifier = func(hc *container.HostConfig) {
		if modify != nil {
			modify(hc)
		}
		onLoopback(hc, req.ExposedPorts[0])
		hc.Memory = 64 << 20
	}
	return r.DockerProvider.RunContainer(ctx, req)
}

// watch makes sure that a reaper watches over this process. It must be called
// before anything is started: what is started connects to the same reaper.
//
// testcontainers takes a reaper for good as soon as its port can be connected to,
// which the engine lets happen also while that reaper, of an earlier process of
// this session, is removing what it finds. It would find what is started now. So
// we ask it ourselves, and wait for its end where it does not answer.
func watch(ctx context.Context, p *testcontainers.DockerProvider) error {
	if p.Config().Config.RyukDisabled {
		return nil // somebody's wish; a killed run then leaves its containers
	}
	image, err := reaperImage(ctx, p)
	if err != nil {
		return err
	}
	if err := have(ctx, p, image); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, admin.Longest)
	defer cancel()
	for {
		//lint:ignore SA1019 what replaces it knows no other image and publishes its port everywhere
		r, err := testcontainers.NewReaper(ctx, testcontainers.SessionID(), reaping{p, image}, "")
		if err != nil {
			return fmt.Errorf("reaper %s: %w", image, err)
		}
		if err = greet(ctx, r.Endpoint); err == nil {
			return nil
		}
		// What testcontainers takes for a connection would wait for its end forever.
		if end, err := r.Connect(); err == nil {
			select {
			case end <- true:
			case <-ctx.Done():
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("reaper %s at %s: %w", image, r.Endpoint, errors.Join(ctx.Err(), err))
		case <-time.After(admin.Poll):
		}
	}
}

// greet says nil if a reaper acknowledges the labels of this session.
func greet(ctx context.Context, address string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	labels := url.Values{}
	for name, value := range testcontainers.GenericLabels() {
		labels.Add("label", name+"="+value)
	}
	if _, err := conn.Write([]byte(labels.Encode() + "\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && answer != "ACK\n" {
		err = fmt.Errorf("it answers %q", answer)
	}
	return err
}
