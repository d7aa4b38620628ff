package sessionindex

type (
	sessionID int32
	rankID    int32
	claimID   int32
)

// session is a session that has a claim.
type session struct {
	id           string
	claims       claimID // the first of its list
	older, newer sessionID
}

// rank is a worker rank on which somebody has a claim.
type rank struct {
	at     WorkerRank
	claims claimID // the first of its list
}

// claim is what a session has on a rank: the frontiers, and by them all that is above.
type claim struct {
	session   sessionID
	rank      rankID
	frontiers []nodeID
	// grafts is the forest's count when the frontiers were last known to be an
	// antichain. A graft since then may have put one of them under another.
	grafts                   uint64
	sessionPrev, sessionNext claimID
	rankPrev, rankNext       claimID
}

// table holds who claims what, by session and by rank. Sessions are ordered by use.
// A session or a rank without a claim is not in it.
type table struct {
	sessions       slots[sessionID, session]
	ranks          slots[rankID, rank]
	claims         slots[claimID, claim]
	byID           map[string]sessionID
	byRank         map[WorkerRank]rankID
	byPair         map[pair]claimID
	oldest, newest sessionID
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
		t.append(s)
	} else if s != t.newest {
		t.unlink(s)
		t.append(s)
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
	se, ra := t.sessions.at(s), t.ranks.at(r)
	*t.claims.at(c) = claim{session: s, rank: r, sessionNext: se.claims, rankNext: ra.claims}
	if se.claims != 0 {
		t.claims.at(se.claims).sessionPrev = c
	}
	if ra.claims != 0 {
		t.claims.at(ra.claims).rankPrev = c
	}
	se.claims, ra.claims = c, c
	return c
}

// close removes a claim that has no frontiers left, and with its last claim a session
// or a rank.
func (t *table) close(c claimID) {
	cl := t.claims.at(c)
	se, ra := t.sessions.at(cl.session), t.ranks.at(cl.rank)
	if cl.sessionPrev != 0 {
		t.claims.at(cl.sessionPrev).sessionNext = cl.sessionNext
	} else {
		se.claims = cl.sessionNext
	}
	if cl.sessionNext != 0 {
		t.claims.at(cl.sessionNext).sessionPrev = cl.sessionPrev
	}
	if cl.rankPrev != 0 {
		t.claims.at(cl.rankPrev).rankNext = cl.rankNext
	} else {
		ra.claims = cl.rankNext
	}
	if cl.rankNext != 0 {
		t.claims.at(cl.rankNext).rankPrev = cl.rankPrev
	}
	if se.claims == 0 {
		t.unlink(cl.session)
		delete(t.byID, se.id)
		t.sessions.give(cl.session)
	}
	if ra.claims == 0 {
		delete(t.byRank, ra.at)
		t.ranks.give(cl.rank)
	}
	delete(t.byPair, pair{cl.session, cl.rank})
	t.claims.give(c)
}

// append makes the session the most recently used.
func (t *table) append(s sessionID) {
	se := t.sessions.at(s)
	se.older, se.newer = t.newest, 0
	if t.newest != 0 {
		t.sessions.at(t.newest).newer = s
	} else {
		t.oldest = s
	}
	t.newest = s
}

// unlink takes the session out of the order of use.
func (t *table) unlink(s sessionID) {
	se := t.sessions.at(s)
	if se.older != 0 {
		t.sessions.at(se.older).newer = se.newer
	} else {
		t.oldest = se.newer
	}
	if se.newer != 0 {
		t.sessions.at(se.newer).older = se.older
	} else {
		t.newest = se.older
	}
}
