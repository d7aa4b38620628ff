package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/testcontainers/testcontainers-go"
	"go.etcd.io/etcd/api/v3/version"
)

// The environment variables that name images.
const (
	EtcdImageEnv   = "ROUTEPROOF_ETCD_IMAGE"
	ReaperImageEnv = "TESTCONTAINERS_RYUK_CONTAINER_IMAGE"
)

// Where images come from: what etcd publishes, and what ci/images/build makes on
// machines that reach no registry.
var officialEtcd = "quay.io/coreos/etcd:v" + version.Version

const (
	localEtcd   = "routeproof/etcd:local"
	localPrefix = "routeproof/"
)

// remedy is told where an image cannot be had.
const remedy = `where no image registry can be reached, build the images: eval "$(ci/images/build)"`

// officialReaper is the image that testcontainers starts by itself. It takes no
// image for a reaper whose name does not end like this one's.
//
//lint:ignore SA1019 there is no other way to learn the name
var officialReaper = testcontainers.ReaperDefaultImage

// pick is the image to use: what the environment names, else the one that was
// built here, else the official one.
func pick(ctx context.Context, p *testcontainers.DockerProvider, env, local, official string) string {
	if named := os.Getenv(env); named != "" {
		return named
	}
	if _, err := p.Client().ImageInspect(ctx, local); err == nil {
		return local
	}
	return official
}

func etcdImage(ctx context.Context, p *testcontainers.DockerProvider) string {
	return pick(ctx, p, EtcdImageEnv, localEtcd, officialEtcd)
}

func reaperImage(ctx context.Context, p *testcontainers.DockerProvider) (string, error) {
	image := pick(ctx, p, ReaperImageEnv, localPrefix+officialReaper, officialReaper)
	if !strings.HasSuffix(image, officialReaper) {
		return "", fmt.Errorf("%s=%s: testcontainers takes an image for a reaper only if its name ends in %s; tag yours like this: docker tag %s %s",
			ReaperImageEnv, image, officialReaper, image, localPrefix+officialReaper)
	}
	return image, nil
}

// Ready says why containers cannot be used here: no engine answers, or an image
// is neither there nor to be had from a registry.
func Ready(ctx context.Context) error {
	p, err := provider(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	reaper, err := reaperImage(ctx, p)
	if err != nil {
		return err
	}
	for _, image := range []string{etcdImage(ctx, p), reaper} {
		if err := have(ctx, p, image); err != nil {
			return err
		}
	}
	return nil
}

// have gets an image that is not there yet.
func have(ctx context.Context, p *testcontainers.DockerProvider, image string) error {
	if _, err := p.Client().ImageInspect(ctx, image); err == nil {
		return nil
	}
	if err := p.PullImage(ctx, image); err != nil {
		return errors.Join(fmt.Errorf("image %s: %w", image, err), errors.New(remedy))
	}
	return nil
}
