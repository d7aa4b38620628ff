package etcd

// Address returns where the server is that tests share.
func Address() string { return common.Clients[0].Addr().String() }
