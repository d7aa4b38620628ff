package sessionindex

type (
	sessionID int32
	rankID    int32
	claimID   int32
)

// session is a session that has a claim.
type session struct {
	id     string
	claims list[claimID]
	byUse  links[sessionID]
}

// rank is a worker rank on which somebody has a claim.
type rank struct {
	at     WorkerRank
	claims list[claimID]
}

// claim is what a session has on a rank: the frontiers, and by them all that is above.
type claim struct {
	session   sessionID
	rank      rankID
	frontiers []nodeID
	// grafts is the forest's count when the frontiers were last known to be an
	// antichain. A graft since then may have put one of them under another.
	grafts            uint64
	ofSession, ofRank links[claimID]
}

// table holds who claims what, by session and by rank. Sessions are ordered by use.
// A session or a rank without a claim is not in it.
type table struct {
	sessions slots[sessionID, session]
	ranks    slots[rankID, rank]
	claims   slots[claimID, claim]
	byID     map[string]sessionID
	byRank   map[WorkerRank]rankID
	byPair   map[pair]claimID
	byUse    list[sessionID] // the least recently used first
}

type pair struct {
	session sessionID
	rank    rankID
}

// find returns the claim of a session on a rank, or none.
func (t *table) find(id string, at WorkerRank) claimID {
	s, ok := t.byID[id]
	if !ok {
		return 0
	}
	return t.byPair[pair{s, t.byRank[at]}] // no claim has rank 0
}

// open returns the claim of a session on a rank, a new one without frontiers if there
// is none, and makes the session the most recently used.
func (t *table) open(id string, at WorkerRank) claimID {
	s := t.byID[id]
	if s == 0 {
		s = t.sessions.take()
		t.sessions.at(s).id = string([]byte(id)) // not a piece of the caller's message
		t.byID[t.sessions.at(s).id] = s
		t.byUse.add(s, t.useLinks)
	} else if s != t.byUse.last {
		t.byUse.drop(s, t.useLinks)
		t.byUse.add(s, t.useLinks)
	}
	r := t.byRank[at]
	if r == 0 {
		r = t.ranks.take()
		t.ranks.at(r).at = at
		t.byRank[at] = r
	}
	key := pair{s, r}
	c := t.byPair[key]
	if c != 0 {
		return c
	}
	c = t.claims.take()
	t.byPair[key] = c
	*t.claims.at(c) = claim{session: s, rank: r}
	t.sessions.at(s).claims.add(c, t.sessionLinks)
	t.ranks.at(r).claims.add(c, t.rankLinks)
	return c
}

// close removes a claim that has no frontiers left, and with its last claim a session
// or a rank.
func (t *table) close(c claimID) {
	cl := t.claims.at(c)
	se, ra := t.sessions.at(cl.session), t.ranks.at(cl.rank)
	se.claims.drop(c, t.sessionLinks)
	ra.claims.drop(c, t.rankLinks)
	if se.claims.first == 0 {
		t.byUse.drop(cl.session, t.useLinks)
		delete(t.byID, se.id)
		t.sessions.give(cl.session)
	}
	if ra.claims.first == 0 {
		delete(t.byRank, ra.at)
		t.ranks.give(cl.rank)
	}
	delete(t.byPair, pair{cl.session, cl.rank})
	t.claims.give(c)
}

// Where the links of each list are.

func (t *table) useLinks(s sessionID) *links[sessionID] { return &t.sessions.at(s).byUse }
func (t *table) sessionLinks(c claimID) *links[claimID] { return &t.claims.at(c).ofSession }
func (t *table) rankLinks(c claimID) *links[claimID]    { return &t.claims.at(c).ofRank }
