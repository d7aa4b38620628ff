package target

// rehearse renders every template once, for every variant, so that a bad one is
// known before anything starts.
func (m *Manifest) rehearse() error {
	for _, name := range append([]string{""}, m.VariantNames()...) {
		v, err := m.resolve(name)
		if err != nil {
			return err
		}
		if err := m.rehearseVariant(v, m.sample(v, name, 1)); err != nil {
			return err
		}
		for _, kind := range sortedKeys(m.Wiring.Stores) {
			d := m.sample(v, name, 1)
			d.Store, d.Workers = sampleStore(kind), nil
			if err := m.rehearseVariant(v, d); err != nil {
				return err
			}
		}
	}
	if err := m.rehearseStores(); err != nil {
		return err
	}
	return m.rehearseVerify()
}

func (m *Manifest) rehearseVariant(v Variant, d *Data) error {
	for _, key := range sortedKeys(v.Files) {
		if _, err := v.Files[key].render(d); err != nil {
			return err
		}
	}
	for _, key := range sortedKeys(v.Env) {
		if _, err := v.Env[key].renderWord(key+"=", d); err != nil {
			return err
		}
	}
	if m.Endpoint.text != "" {
		if _, err := m.Endpoint.renderURL(d); err != nil {
			return err
		}
	}
	if c := m.Component; c != nil {
		if err := rehearseCommand(c.Command, d); err != nil {
			return err
		}
		for _, key := range sortedKeys(c.Env) {
			if _, err := c.Env[key].renderWord(key+"=", d); err != nil {
				return err
			}
		}
	}
	e := m.Launch.Exec
	if e == nil {
		return nil
	}
	if err := rehearseCommand(e.Command, d); err != nil {
		return err
	}
	_, err := e.Ready.HTTP.renderURL(d)
	return err
}

func rehearseCommand(command []Template, d *Data) error {
	for i, a := range command {
		s, err := a.renderWord("", d)
		if err != nil {
			return err
		}
		if i == 0 && s == "" {
			return a.bad(s, "is no program", "write command: [PROGRAM, ARGUMENT, ...]")
		}
	}
	return nil
}

// rehearseVerify makes sure that one generation can be told from the next.
func (m *Manifest) rehearseVerify() error {
	if m.Wiring.Apply == nil {
		return nil
	}
	ver := m.Wiring.Apply.Verify
	v, _ := m.resolve("")
	var text [2]string
	for i := range text {
		d := m.sample(v, "", i+1)
		if w := m.Wiring.Apply.When; w != nil {
			if _, _, err := w.render(d); err != nil {
				return err
			}
		}
		_, s, err := ver.render(d)
		if err != nil {
			return err
		}
		text[i] = s
	}
	if text[0] == text[1] {
		return ver.Contains.bad(text[0], "is the same for every generation: an old answer would pass for a new one", "write {{.Generation}} into it")
	}
	return nil
}

// sample is made-up data of the right shape.
func (m *Manifest) sample(v Variant, variant string, generation int) *Data {
	d := &Data{
		Dir: "/tmp/sample", ManifestDir: m.dir, Exe: "/usr/bin/routeproof", Host: loopback, Port: 20000, Ports: map[string]int{},
		Generation: generation, Session: v.Session, Aliases: m.Aliases, Timeouts: m.timeouts(v), Variant: variant,
		Workers: []Worker{
			{ID: "w1", Host: loopback, Port: 20101, URL: "http://127.0.0.1:20101", Model: m.Models[0], Role: "aggregated"},
			{ID: "w2", Host: loopback, Port: 20102, URL: "http://127.0.0.1:20102", Model: m.Models[0], Role: "prefill", Ranks: 4},
			{ID: "w3", Host: loopback, Port: 20103, URL: "http://127.0.0.1:20103", Model: m.Models[0], Role: "decode", Ranks: 4},
		},
	}
	d.BaseURL = baseURL(d.Host, d.Port)
	for i, name := range m.Ports {
		d.Ports[name] = 20001 + i
	}
	return d
}
