package router

import (
	"errors"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/fleet"
)

func (r *Router) forward(w http.ResponseWriter, req *http.Request) {
	x, err := r.admit(w, req)
	if err == nil {
		if x.query {
			err = x.answer()
		} else {
			err = x.run()
		}
	}
	if err == nil {
		return
	}
	if req.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client has left: no answer, and no clean end either
	}
	var e *Error
	if !errors.As(err, &e) {
		e = errorf(Internal, "%v", err)
	}
	r.parts.Log.Warn("request refused", "path", req.URL.Path, "code", e.Kind, "reason", e.Message)
	e.write(w)
}

// admit reads what routing needs to know of a request.
func (r *Router) admit(w http.ResponseWriter, req *http.Request) (*exchange, error) {
	body, err := readBody(w, req, r.cfg.MaxBody)
	if err != nil {
		return nil, err
	}
	known := r.parts.Fleet.Models()
	model, err := r.parts.Models.Model(body, known)
	if err != nil {
		var e *Error
		if len(known) == 0 && errors.As(err, &e) && e.Kind == ModelNotFound {
			return nil, errNoWorker
		}
		return nil, err
	}
	if body, err = underOwnName(body, r.cfg.Aliases); err != nil {
		return nil, err
	}
	x := &exchange{r: r, w: w, req: req, body: body, key: affinity.Key{Model: model}, splittable: r.parts.Prefill.Handoff.Splits(req.URL.Path)}
	if r.parts.Affinity != nil {
		x.key.Session = r.parts.Sessions.Session(req)
	}
	if x.key.Session != "" {
		if x.key.Tenant, err = r.tenant(req.Header); err != nil {
			return nil, err
		}
	}
	if x.query, err = isQuery(req.Header); err != nil {
		return nil, err
	}
	x.serve = leg{x: x, fit: fleet.Whole, coordinator: r.parts.Affinity, policy: r.parts.Policy}
	p, err := r.parts.Pins.Pins(req.Header)
	if err != nil {
		return nil, errorf(InvalidArgument, "%v", err)
	}
	x.serve.pin = p.Serve
	x.prefill = leg{x: x, fit: fleet.Prefill, coordinator: r.parts.Prefill.Affinity, policy: r.parts.Prefill.Policy, pin: p.Prefill}
	for _, pin := range [...]affinity.Target{p.Serve, p.Prefill} { // whether or not there is such a phase
		if pin.Worker == "" {
			continue
		}
		if _, err := r.parts.Fleet.Find(model, pin); err != nil {
			return nil, pinError(err)
		}
	}
	if p.Prefill.Worker != "" && x.splits() { // before anything is done for the other phase
		if _, _, err := x.prefill.look(); err != nil && !errors.Is(err, errNoWorker) { // they may have just left
			return nil, err
		}
	}
	return x, nil
}

// maxTenant is the limit of a tenant's name, in bytes.
const maxTenant = 256

// tenant returns the request's tenant: its name byte for byte, whatever it holds,
// for two tenants must never count as one.
func (r *Router) tenant(h http.Header) (string, error) {
	if r.cfg.TenantHeader == "" {
		return "", nil
	}
	values := h[textproto.CanonicalMIMEHeaderKey(r.cfg.TenantHeader)]
	if len(values) == 0 {
		return "", nil
	}
	tenant := strings.Trim(values[0], " \t")
	if len(tenant) > maxTenant {
		return "", errorf(InvalidArgument, "%s: the tenant's name has %d bytes: send at most %d", r.cfg.TenantHeader, len(tenant), maxTenant)
	}
	return tenant, nil
}
