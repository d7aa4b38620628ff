package worker

import "time"

// mayWrite waits until event n may be written: for its step if the plan steps,
// else for its time.
func (x *exchange) mayWrite(n int, due time.Duration) bool {
	if n == x.request.Events()-1 && !x.mayFinish() {
		return false
	}
	if x.plan == nil || !x.plan.plan.Step {
		return x.until(due)
	}
	if !x.ask(func() (bool, <-chan struct{}) { return x.plan.mayStep(n) }) {
		return false
	}
	if x.plan.isDoomed(n) {
		return x.reset()
	}
	return true
}

func (x *exchange) mayAnswer() bool {
	if x.plan == nil {
		return true
	}
	return x.ask(x.plan.mayAnswer)
}

func (x *exchange) mayFinish() bool {
	return x.plan == nil || x.ask(x.plan.mayFinish)
}

// ask waits until the question is answered with yes.
func (x *exchange) ask(question func() (bool, <-chan struct{})) bool {
	for {
		yes, changed := question()
		if yes {
			return true
		}
		if !x.wait(changed) {
			return false
		}
	}
}

// until waits for a time on the ledger's clock.
func (x *exchange) until(due time.Duration) bool {
	d := due - x.w.ledger.Now()
	if d <= 0 {
		return true
	}
	if x.clock == nil {
		x.clock = time.NewTimer(d)
	} else {
		x.clock.Reset(d)
	}
	select {
	case <-x.clock.C:
		return true
	case <-x.life.ctx.Done():
	case <-x.r.Context().Done():
	}
	return x.gone()
}

func (x *exchange) wait(c <-chan struct{}) bool {
	select {
	case <-c:
		// A crash also lets go of everything, but it is a crash.
		if x.life.ctx.Err() == nil {
			return true
		}
	case <-x.life.ctx.Done():
	case <-x.r.Context().Done():
	}
	return x.gone()
}
