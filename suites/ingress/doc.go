// Package ingress tests the documented deployment of several frontends: an ingress
// hashes the raw session header consistently to one of them, and one that goes
// takes nobody's sessions but its own along. All of it is tests, on the manifests
// fixtures/targets/ingress-*.yaml; what operators read is fixtures/targets/frontends.md.
package ingress
