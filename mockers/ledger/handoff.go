package ledger

// Handoff is an attempt's part in passing a prompt's KV blocks from a prefill to
// a decode worker: what the request's kv_transfer_params asked for and what came
// of it. An attempt has none where neither its worker nor its request knows of
// hand-offs.
type Handoff struct {
	Asked   Asked   `json:"asked"`
	Outcome Outcome `json:"outcome"`
	ID      string  `json:"id,omitempty"`     // remote_request_id: of what was issued, or as presented, cut after 256 bytes
	Engine  string  `json:"engine,omitempty"` // remote_engine_id, likewise
	Issuer  int     `json:"issuer"`           // Seq of the attempt that issued it, -1 if that is not known
}

// NoIssuer stands for the Issuer of a hand-off that nobody is known to have issued.
const NoIssuer = -1

// Asked is what a request wants done with KV blocks.
type Asked string

// What a request can ask for.
const (
	AskedNone  Asked = "none"
	AskedIssue Asked = "issue" // do_remote_decode: keep the blocks and name them in the answer
	AskedUse   Asked = "use"   // do_remote_prefill: fetch the blocks that are named here
	AskedBoth  Asked = "both"  // contradicts itself
)

// Outcome is what became of a hand-off, at one attempt or as a whole.
type Outcome string

// Outcomes at a worker that issues hand-offs.
const (
	Unasked  Outcome = "unasked"  // a prefill worker was asked for none, and answered as an aggregated one does
	Issued   Outcome = "issued"   // named in the answer, whether or not all of that reached the router
	Withheld Outcome = "withheld" // asked for, but the answer never came to that
)

// Outcomes at a worker that uses hand-offs. None of them keeps a request from
// being served: what is not fetched is computed again.
const (
	Missing    Outcome = "missing"     // a decode worker was given none
	Consumed   Outcome = "consumed"    // its blocks were fetched, the first and only time
	Untouched  Outcome = "untouched"   // given, but a refusal or a fault came before the blocks were fetched
	Unknown    Outcome = "unknown"     // nobody ever issued it
	Reused     Outcome = "reused"      // it had been consumed before
	IssuerGone Outcome = "issuer-gone" // the incarnation that issued it has crashed since
	WrongModel Outcome = "wrong-model" // it was issued for another model
	Altered    Outcome = "altered"     // engine, address, blocks, length or lease are not those it was issued with
	Malformed  Outcome = "malformed"   // the parameters contradict themselves, are incomplete or of the wrong types
	Forgotten  Outcome = "forgotten"   // older than the record of hand-offs reaches: nothing can be said
)

const (
	// Ignored is a hand-off that an aggregated worker was asked for or given.
	Ignored Outcome = "ignored"
	// NeverConsumed is a whole hand-off whose blocks nobody has fetched.
	NeverConsumed Outcome = "never-consumed"
)
