"""What goes on to the kubelet of a pod's node."""
import json
import unittest

from kinds import POD_SPEC
from kubelet import Kubelet
from steps import MERGE, Steps, kubectl, make_namespace


class Nodes(Steps):
    @classmethod
    def setUpClass(cls):
        certificates = kubectl.server.certificates
        if not certificates:
            raise unittest.SkipTest('the kubelet borrows the certificate of the server under test')
        cls.kubelet = Kubelet(*certificates)
        make_namespace('nodes')
        kubectl('create', '-f', '-', stdin={'apiVersion': 'v1', 'kind': 'Node',
                                            'metadata': {'name': 'real'}})
        kubectl.server.request('PATCH', '/api/v1/nodes/real/status', {'status': {
            'addresses': [{'type': 'InternalIP', 'address': '127.0.0.1'}],
            'daemonEndpoints': {'kubeletEndpoint': {'Port': cls.kubelet.port}}}}, MERGE)
        kubectl('create', '-n', 'nodes', '-f', '-', stdin={
            'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'},
            'spec': {**POD_SPEC, 'nodeName': 'real'}})

    @classmethod
    def tearDownClass(cls):
        cls.kubelet.stop()

    def test_logs(self):
        out = kubectl('logs', 'p', '-n', 'nodes', '--tail=5', '--timestamps')
        self.assertEqual(out, 'first line\nsecond line\n')
        self.assertIn('GET /containerLogs/nodes/p/c?tailLines=5&timestamps=true', self.kubelet.asked)
        self.assertEqual(kubectl('logs', 'p', '-n', 'nodes', '-f'), out)
        self.expect(kubectl.command('logs', 'p', '-c', 'none', '-n', 'nodes')[2],
                    'container none is not valid for pod p')

    def test_exec(self):
        if kubectl.minor <= 30:
            return  # speaks SPDY only
        self.assertEqual(kubectl('exec', 'p', '-n', 'nodes', '--', 'echo', 'a b'), 'echo a b\n')
        out = kubectl('exec', '-i', 'p', '-n', 'nodes', '--', 'cat', stdin='typed')
        self.assertEqual(out, 'cat: typed\n')

    def test_attach(self):
        if kubectl.minor > 30:
            self.expect(kubectl('attach', 'p', '-n', 'nodes'), 'attached')

    def test_tunnels_pass_bytes_on(self):
        """As old clients do for port-forward: an upgrade to a protocol the server does not know."""
        with kubectl.server.connect() as tunnel:
            tunnel.sendall(b'POST /api/v1/namespaces/nodes/pods/p/portforward?ports=80 HTTP/1.1\r\n'
                           b'Host: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n'
                           b'Authorization: Bearer ' + kubectl.server.token.encode() + b'\r\n\r\n')
            head = b''
            while b'\r\n\r\n' not in head:
                head += tunnel.recv(4096)
            self.assertIn(b' 101 ', head)
            tunnel.sendall(b'\x00over\xff')
            self.assertEqual(tunnel.recv(4096), b'\x00over\xff')
        self.assertIn('POST /portForward/nodes/p?port=80', self.kubelet.asked)

    def test_node_proxy(self):
        # Loopback addresses are not proxied to, and every node of this test has one.
        code, body = kubectl.server.request('GET', '/api/v1/nodes/real/proxy/healthz')
        self.assertEqual((code, json.loads(body)['message']), (400, 'address not allowed'))
