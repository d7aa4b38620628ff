package containers

import (
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/routeproof/routeproof/suites/stores"
)

func TestEveryPublishedPortIsOnTheLoopback(t *testing.T) {
	b := open(t, stores.Container)
	p, err := provider(b.Ctx)
	b.Must(err)
	defer p.Close()
	// Of this session: the node and the reaper.
	all, err := p.Client().ContainerList(b.Ctx, client.ContainerListOptions{
		Filters: make(client.Filters).Add("label", "org.testcontainers.sessionId="+p.Config().Config.SessionID)})
	b.Must(err)
	ports := 0
	for _, c := range all.Items {
		for _, port := range c.Ports {
			if port.PublicPort == 0 {
				continue
			}
			ports++
			if !port.IP.IsLoopback() {
				t.Errorf("%v publishes %d at %s", c.Names, port.PrivatePort, port.IP)
			}
		}
	}
	if ports < 2 {
		t.Errorf("%d published ports, want the node's and the reaper's", ports)
	}
}

func TestAnEngineElsewhereIsRefused(t *testing.T) {
	for host, fine := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true,
		"10.0.0.1": false, "172.17.0.1": false, "engine.example": false, "": false} {
		if err := loopback(host); (err == nil) != fine {
			t.Errorf("%q: %v", host, err)
		}
	}
	needs(t)
	t.Setenv(HostEnv, "10.0.0.1")
	if _, err := Open(t.Context(), stores.Container); err == nil || !strings.Contains(err.Error(), "10.0.0.1") {
		t.Errorf("Open = %v", err)
	}
}

func TestImagesAreChosenByTheEnvironmentAndMistakesHaveARemedy(t *testing.T) {
	needs(t)
	ctx := t.Context()
	p, err := provider(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	t.Setenv(EtcdImageEnv, "some/etcd:1")
	if got := etcdImage(ctx, p); got != "some/etcd:1" {
		t.Errorf("etcd image %q", got)
	}
	t.Setenv(EtcdImageEnv, "")
	if got := etcdImage(ctx, p); got != localEtcd && got != officialEtcd {
		t.Errorf("etcd image %q", got)
	}
	t.Setenv(ReaperImageEnv, "some/reaper:1")
	if _, err := reaperImage(ctx, p); err == nil || !strings.Contains(err.Error(), "docker tag some/reaper:1") {
		t.Errorf("reaper image: %v", err)
	}
	t.Setenv(ReaperImageEnv, "some/"+officialReaper)
	if got, err := reaperImage(ctx, p); got != "some/"+officialReaper || err != nil {
		t.Errorf("reaper image %q, %v", got, err)
	}
	// Port 1 of this machine serves no images.
	t.Setenv(EtcdImageEnv, "127.0.0.1:1/etcd:none")
	if _, err := Open(ctx, stores.Container); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1/etcd:none") || !strings.Contains(err.Error(), "ci/images/build") {
		t.Errorf("an image that cannot be had: %v", err)
	}
}
