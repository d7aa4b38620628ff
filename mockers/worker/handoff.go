package worker

import (
	"fmt"
	"strings"

	"github.com/routeproof/routeproof/mockers/handoff"
	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/openai"
)

// How hand-offs work here, after vLLM's NixlConnector and the proxies that drive
// it. The router sends a request to a prefill worker with kv_transfer_params
// that say do_remote_decode, limited to one token and not streamed. The answer's
// kv_transfer_params name what the worker keeps. The router sends the original
// request with those to a decode worker, which fetches the blocks when it begins
// to serve, once. What cannot be fetched it computes again: the client sees
// nothing of it, the ledger does.
//
//   - Prefill and decode workers issue and use alike; the connector takes no
//     notice of its role. An aggregated worker has no connector and ignores all.
//   - An answer that issues a hand-off is whole even if a stream was asked for:
//     streams do not carry kv_transfer_params.
//   - A crash of the issuer, not a fault of its port, makes its hand-offs useless:
//     blocks are fetched past HTTP.

// keepID is how many bytes of a presented name the ledger keeps.
const keepID = 256

// hearHandoff says what the request wants with hand-offs, before it is served.
func (x *exchange) hearHandoff() *ledger.Handoff {
	asked, malformed := asked(x.request.Transfer)
	outcome := ledger.Outcome("")
	switch role := x.w.shape.Role; {
	case role == Aggregated && asked == ledger.AskedNone && !malformed:
		return nil
	case role == Aggregated:
		outcome = ledger.Ignored
	case malformed:
		outcome = ledger.Malformed
	case asked == ledger.AskedIssue:
		outcome = ledger.Withheld
	case asked == ledger.AskedUse:
		outcome = ledger.Untouched
	case x.refusal != nil: // it may have been refused before its parameters were read
		return nil
	case role == Prefill:
		outcome = ledger.Unasked
	default:
		outcome = ledger.Missing
	}
	h := &ledger.Handoff{Asked: asked, Outcome: outcome, Issuer: ledger.NoIssuer}
	if asked == ledger.AskedUse {
		h.ID, h.Engine = cut(x.request.Transfer.ID), cut(x.request.Transfer.Engine)
	}
	return h
}

func asked(t *openai.KVTransfer) (a ledger.Asked, malformed bool) {
	switch {
	case t == nil:
		return ledger.AskedNone, false
	case t.RemoteDecode && t.RemotePrefill:
		a = ledger.AskedBoth
	case t.RemoteDecode:
		a = ledger.AskedIssue
	case t.RemotePrefill:
		a = ledger.AskedUse
	default:
		a = ledger.AskedNone
	}
	return a, t.Malformed != ""
}

func cut(s string) string {
	if len(s) > keepID {
		s = s[:keepID]
	}
	return strings.Clone(s)
}

// does says that the worker is to do this with hand-offs, and can.
func (x *exchange) does(what ledger.Asked) bool {
	a, malformed := asked(x.request.Transfer)
	return x.w.shape.Role != Aggregated && a == what && !malformed
}

// issue makes the hand-off that the answer names, nil for none.
func (x *exchange) issue() *openai.KVTransfer {
	if !x.does(ledger.AskedIssue) {
		return nil
	}
	q := x.request
	t := x.w.handoffs.Issue(handoff.Ticket{Engine: x.engine(), Host: x.w.Host(), Port: x.w.Port(), Tokens: q.PromptTokens}, q.ID(), q.Model, x.party(), q.PromptBlocks())
	x.entry.Handoff(ledger.Handoff{Asked: ledger.AskedIssue, Outcome: ledger.Issued, ID: t.ID, Engine: t.Engine, Issuer: x.entry.Seq()})
	return &openai.KVTransfer{ID: t.ID, Engine: t.Engine, Host: t.Host, Port: t.Port, Blocks: t.Blocks, Tokens: q.PromptTokens, Lease: t.Lease}
}

// use fetches the blocks of the hand-off that the request names, if it does.
func (x *exchange) use() {
	if !x.does(ledger.AskedUse) {
		return
	}
	t := x.request.Transfer
	h := ledger.Handoff{Asked: ledger.AskedUse, ID: cut(t.ID), Engine: cut(t.Engine)}
	ticket := handoff.Ticket{ID: t.ID, Engine: t.Engine, Host: t.Host, Port: t.Port, Blocks: t.Blocks, Tokens: t.Tokens, Lease: t.Lease}
	h.Outcome, h.Issuer = x.w.handoffs.Use(ticket, x.request.Model, x.party())
	x.entry.Handoff(h)
}

func (x *exchange) party() handoff.Party {
	return handoff.Party{Worker: x.w.id, Incarnation: x.life.incarnation, Rank: x.rank, Attempt: x.entry.Seq()}
}

// engine is the engine's id: another one for each rank and after each restart,
// as vLLM's are.
func (x *exchange) engine() string {
	id := fmt.Sprintf("%s-%d", x.w.id, x.life.incarnation)
	if x.rank >= 0 {
		id += fmt.Sprintf("_dp%d", x.rank)
	}
	return id
}
