package target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	golden "github.com/routeproof/routeproof/fixtures/component"
	"github.com/routeproof/routeproof/suites/internal/require"
	"github.com/routeproof/routeproof/suites/target/component"
	"github.com/routeproof/routeproof/suites/target/component/conversation"
)

// playAll plays every golden conversation, each to an adapter of its own.
func playAll(t *testing.T, begin func(*testing.T) *component.Client) {
	t.Helper()
	all, err := conversation.Load(golden.Files)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 12 {
		t.Fatalf("%d conversations", len(all))
	}
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) { played(t, v, begin(t)) })
	}
}

// played plays one conversation; one that needs what the adapter does not claim is skipped.
func played(t *testing.T, v *conversation.Conversation, c *component.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	defer func() {
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	err := v.Play(ctx, c)
	var declined *conversation.DeclinedError
	if errors.As(err, &declined) {
		t.Skip(declined)
	}
	if err != nil {
		for _, l := range c.Transcript(0) {
			t.Log(l)
		}
		t.Error(err)
	}
}

func TestTheReferenceAnswersTheGoldenConversations(t *testing.T) {
	playAll(t, func(*testing.T) *component.Client { return ReferenceComponent(ComponentOptions{}) })
}

func TestTheReferenceIsServedInsideABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, err := conversation.Load(golden.Files)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for _, v := range all {
			played(t, v, ReferenceComponent(ComponentOptions{}))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v of real time", took)
		}
	})
}

func TestThePythonAdapterAnswersTheGoldenConversations(t *testing.T) {
	python := require.Require(t, "python3")
	file, err := filepath.Abs("../../fixtures/adapters/python/affinity.py")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil { // also lets go test see that it has changed
		t.Fatal(err)
	}
	playAll(t, func(t *testing.T) *component.Client {
		c, err := component.Launch(t.Context(), []string{python, file})
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

// The page shows a conversation; it must be a true one, to the letter.
func TestTheConversationOfThePageIsWhatTheReferenceAnswers(t *testing.T) {
	page, err := os.ReadFile("component.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```jsonl\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d conversations in the page", len(blocks))
	}
	v, err := conversation.Parse("component.md", blocks[0][1])
	if err != nil {
		t.Fatal(err)
	}
	played(t, v, ReferenceComponent(ComponentOptions{}))
	// A mistake in it would be seen.
	wrong := strings.Replace(string(blocks[0][1]), `"bound":false`, `"bound":true,"target":{"worker":"w1"}`, 1)
	if v, err = conversation.Parse("component.md", []byte(wrong)); err != nil {
		t.Fatal(err)
	}
	c := ReferenceComponent(ComponentOptions{})
	var d *conversation.Difference
	if err := v.Play(t.Context(), c); !errors.As(err, &d) {
		t.Errorf("Play = %v, want a difference", err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestClosingTheReferenceEndsWhatIsParked(t *testing.T) {
	c := ReferenceComponent(ComponentOptions{})
	ctx := t.Context()
	a, err := c.NewAffinity(ctx, component.AffinityConfig{IdleTTL: 1000}, false)
	if err != nil {
		t.Fatal(err)
	}
	ask := component.Ask{Model: "m", Session: "s"}
	if got, err := a.Acquire(ctx, ask); err != nil || got.State != component.Initializer {
		t.Fatal(got, err)
	}
	id, err := a.StartAcquire(ctx, ask)
	if err != nil {
		t.Fatal(err)
	}
	if parked, err := c.Sync(ctx); err != nil || len(parked) != 1 || parked[0] != id {
		t.Fatal(parked, err)
	}
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
	if _, err := a.AwaitAcquired(ctx, id); err == nil {
		t.Error("a parked operation was answered by the end")
	}
}
