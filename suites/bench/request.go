package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target"
)

// Req says what one client request shall be. The zero value is a keyless,
// unstreamed chat completion over a fresh connection.
type Req struct {
	Key        string // join key; empty = the run's next one
	Session    string // empty = keyless
	Counts     string // the session that it must count for where its headers name several; never sent
	Turn       int
	Phase      string
	Endpoint   string // history.Chat (default) or history.Completions
	Stream     bool
	Kept       bool // over a kept-alive connection
	Model      string
	Query      string // appended to the path after "?"
	Tokens     int    // max_tokens; 0 = 4
	Prompt     string // after the marker; empty = a short one
	Header     http.Header
	Pin        *script.Where  // the worker, and perhaps the rank, that shall serve it
	PrefillPin *script.Where  // the same of its prefill
	Tenant     string         // sent in the manifest's tenant header
	Asks       bool           // only asks where the session is bound
	BlankID    bool           // the session id is sent although it is empty or blank
	Lower      bool           // the session header's name in lower case instead of as the manifest writes it
	Chunked    bool           // the body without a Content-Length
	Uploads    bool           // the client leaves when it has sent half of its body, which must be a large one
	Extra      map[string]any // further top-level body fields; json.RawMessage passes as written
	Deadline   time.Duration  // 0 = RequestDeadline
}

// RequestDeadline bounds a client request that states no other.
const RequestDeadline = 10 * time.Second

// Shape is one way to ask for a completion. Affinity, spreading and the like
// must not depend on it.
type Shape struct {
	Endpoint     string
	Stream, Kept bool
}

// Shapes are all the ways to ask, in a fixed order.
func Shapes() []Shape {
	var out []Shape
	for _, endpoint := range []string{history.Chat, history.Completions} {
		for _, stream := range []bool{false, true} {
			for _, kept := range []bool{false, true} {
				out = append(out, Shape{endpoint, stream, kept})
			}
		}
	}
	return out
}

// FreshShapes are the shapes over fresh connections: endpoint and streaming only.
func FreshShapes() []Shape {
	var out []Shape
	for _, s := range Shapes() {
		if !s.Kept {
			out = append(out, s)
		}
	}
	return out
}

// In gives the request a shape.
func (q Req) In(s Shape) Req {
	q.Endpoint, q.Stream, q.Kept = s.Endpoint, s.Stream, s.Kept
	return q
}

// ShapeOf picks the i-th shape of a seeded order, so that sessions walk through
// all shapes in different orders.
func ShapeOf(rnd *rand.Rand, all []Shape) func(i int) Shape {
	order := rnd.Perm(len(all))
	return func(i int) Shape { return all[order[i%len(order)]] }
}

func (s Shape) String() string {
	words := []string{s.Endpoint}
	if s.Stream {
		words = append(words, "streamed")
	}
	if s.Kept {
		words = append(words, "kept-alive")
	}
	return strings.Join(words, " ")
}

// carrier is how the target wants the session id, pins and questions, from the manifest.
type carrier struct {
	header, body, cookie string      // the session id
	pins                 target.Pins // headers
	tenant, query        string      // headers
}

// render makes path, header and body. The join key travels in x-request-id, in
// the body's user field and as a marker in the prompt, because routers drop headers.
func (q Req) render(c carrier) (path string, header http.Header, body []byte, err error) {
	path = "/v1/chat/completions"
	if q.Endpoint == history.Completions {
		path = "/v1/completions"
	}
	if q.Query != "" {
		path += "?" + q.Query
	}
	header = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {q.Key}}
	maps.Copy(header, q.Header)

	prompt := q.Prompt
	if prompt == "" {
		prompt = "say a few words"
	}
	marked := fmt.Sprintf("[[rp:%s]] %s", q.Key, prompt)
	fields := map[string]any{"user": q.Key, "max_tokens": q.Tokens}
	if q.Model != "" {
		fields["model"] = q.Model
	}
	if q.Stream {
		fields["stream"] = true
	}
	if q.Endpoint == history.Completions {
		fields["prompt"] = marked
	} else {
		fields["messages"] = []map[string]string{{"role": "user", "content": marked}}
	}
	maps.Copy(fields, q.Extra)
	if q.Session != "" || q.BlankID {
		switch {
		case c.header != "" && q.Lower:
			header[strings.ToLower(c.header)] = []string{q.Session}
		case c.header != "":
			header[c.header] = []string{q.Session}
		case c.cookie != "":
			header["Cookie"] = append(slices.Clone(header["Cookie"]), among(q.Turn, c.cookie+"="+q.Session))
		case c.body != "":
			if err := put(fields, strings.Split(c.body, "."), q.Session); err != nil {
				return "", nil, nil, err
			}
		default:
			return "", nil, nil, fmt.Errorf("the manifest names no session carrier, so session %q cannot be sent", q.Session)
		}
	}
	var first []byte // a field that comes before all others
	if q.Session != "" && c.body != "" && q.Turn%2 == 1 {
		first = namesakes(fields, strings.Split(c.body, "."), q.Key)
	}
	pin(header, q.Pin, c.pins.Worker, c.pins.Rank)
	pin(header, q.PrefillPin, c.pins.PrefillWorker, c.pins.PrefillRank)
	if q.Tenant != "" {
		header[c.tenant] = []string{q.Tenant}
	}
	if q.Asks {
		header[c.query] = []string{"target"}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		return "", nil, nil, fmt.Errorf("encode the request body: %w", err)
	}
	body = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if first != nil {
		body = slices.Concat([]byte("{"), first, []byte(","), body[1:])
	}
	return path, header, body, nil
}

// pin names a worker and a rank in the headers that the manifest has for them.
func pin(header http.Header, p *script.Where, worker, rank string) {
	if p != nil && p.Worker != "" {
		header[worker] = []string{p.Worker}
	}
	if p != nil && p.Rank != nil {
		header[rank] = []string{strconv.Itoa(*p.Rank)}
	}
}

// put sets a dotted body field, making the objects on its way.
func put(fields map[string]any, path []string, value string) error {
	for _, name := range path[:len(path)-1] {
		next, ok := fields[name].(map[string]any)
		if fields[name] != nil && !ok {
			return fmt.Errorf("session carrier body field %s: %s is no object in this request", strings.Join(path, "."), name)
		}
		if !ok {
			next = map[string]any{}
			fields[name] = next
		}
		fields = next
	}
	fields[path[len(path)-1]] = value
	return nil
}
