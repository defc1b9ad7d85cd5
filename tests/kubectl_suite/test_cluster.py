"""Discovery, access, nodes, certificates, events."""
from kinds import SIGNING_REQUEST
from steps import Steps, kubectl, make_namespace


class Cluster(Steps):
    def test_discovery(self):
        out = kubectl('api-resources', '-o', 'wide')
        for wanted in ('deployments', 'apps/v1', 'deploy'):
            self.step(wanted, lambda: self.expect(out, wanted))
        self.assertRegex(out, r'create[ ,]delete[ ,]deletecollection')
        self.assertGreaterEqual(len(out.splitlines()), 65)
        self.expect(kubectl('api-resources', '--api-group=batch', '--no-headers'), 'cronjobs')
        self.expect(kubectl('api-resources', '--namespaced=false', '-o', 'name'), 'nodes')
        versions = kubectl('api-versions').split()
        self.assertIn('autoscaling/v1', versions)
        self.assertIn('events.k8s.io/v1', versions)

    def test_explain(self):
        for path in ('pods', 'pod.spec.containers', 'deployment.spec.strategy', 'cronjob.spec',
                     'service.spec.ports', 'events', 'customresourcedefinition.spec'):
            self.step(path, lambda: self.expect(kubectl('explain', path), 'FIELDS:'))
        self.step('recursive', lambda: self.expect(
            kubectl('explain', 'configmap', '--recursive'), 'binaryData'))
        self.step('leaf', lambda: self.expect(kubectl('explain', 'pod.spec.nodeName'), 'nodeName'))
        self.step('unknown', lambda: self.expect(
            kubectl.command('explain', 'pod.nosuch')[2], 'does not exist'))

    def test_version_and_info(self):
        _, out, err = kubectl.command('version', '-o', 'json')
        if 'client version error' not in err:  # a client built without a version
            self.step('version', lambda: self.expect(out, 'serverVersion'))
        self.step('cluster-info', lambda: self.expect(kubectl('cluster-info'), 'running at'))

    def test_access(self):
        self.step('can-i', lambda: self.expect(kubectl('auth', 'can-i', 'get', 'pods'), 'yes'))
        self.step('list', lambda: self.expect(kubectl('auth', 'can-i', '--list'), '*.*'))
        self.step('as another', lambda: self.expect(kubectl(
            'auth', 'can-i', 'get', 'pods', '--as=nobody', code=1), 'no'))
        if kubectl.minor > 27:
            self.step('whoami', lambda: self.expect(kubectl('auth', 'whoami'), 'admin'))

    def test_roles_are_reconciled(self):
        def reconcile(*verbs):
            role = {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRole',
                    'metadata': {'name': 'reconciled'},
                    'rules': [{'apiGroups': [''], 'resources': ['pods'], 'verbs': list(verbs)}]}
            self.expect(kubectl('auth', 'reconcile', '-f', '-', stdin=role), 'reconciled')

        def verbs():
            rules = kubectl.json('get', 'clusterrole', 'reconciled')['rules']
            return sorted(verb for rule in rules for verb in rule['verbs'])

        self.step('created', lambda: reconcile('get'))
        self.step('extended', lambda: reconcile('list'))
        self.step('kept', lambda: self.assertEqual(verbs(), ['get', 'list']))

    def test_nodes(self):
        kubectl('create', '-f', '-', stdin={'apiVersion': 'v1', 'kind': 'Node',
                                            'metadata': {'name': 'worker'}})
        self.step('cordon', lambda: self.expect(kubectl('cordon', 'worker'), 'cordoned'))
        self.step('shown', lambda: self.expect(kubectl('get', 'node', 'worker'), 'SchedulingDisabled'))
        self.step('uncordon', lambda: kubectl('uncordon', 'worker'))
        self.step('taint', lambda: kubectl('taint', 'node', 'worker', 'a=b:NoSchedule'))
        self.step('tainted', lambda: self.expect(kubectl('describe', 'node', 'worker'), 'a=b:NoSchedule'))
        self.step('untaint', lambda: kubectl('taint', 'node', 'worker', 'a-'))
        self.step('drain', lambda: kubectl('drain', 'worker', '--ignore-daemonsets', '--force'))

    def test_certificates(self):
        if kubectl.minor <= 20:
            return  # approves in a version that is gone
        for name, verb in (('yes', 'approve'), ('no', 'deny')):
            kubectl('create', '-f', '-', stdin={
                'apiVersion': 'certificates.k8s.io/v1', 'kind': 'CertificateSigningRequest',
                'metadata': {'name': name}, 'spec': {
                    'request': SIGNING_REQUEST, 'signerName': 'example.com/s', 'usages': ['client auth']}})
            self.step(verb, lambda: kubectl('certificate', verb, name))
        self.step('shown', lambda: self.expect(kubectl('get', 'csr'), 'Denied'))

    def test_tokens(self):
        if kubectl.minor > 23:
            make_namespace('tokens')
            self.assertEqual(kubectl('create', 'token', 'default', '-n', 'tokens').count('.'), 2)

    def test_debug_adds_a_container(self):
        if kubectl.minor <= 25:
            return
        make_namespace('debug')
        kubectl('run', 'p', '--image=i', '-n', 'debug')
        kubectl('debug', 'p', '--image=busybox', '--attach=false', '-n', 'debug')
        self.assertEqual(kubectl('get', 'pod', 'p', '-n', 'debug', '-o',
                                 'jsonpath={.spec.ephemeralContainers[0].image}'), 'busybox')

    def test_subresources(self):
        if kubectl.minor <= 24:
            return
        make_namespace('sub')
        kubectl('create', 'deployment', 'd', '--image=i', '-n', 'sub')
        self.step('status', lambda: kubectl('get', 'deployment', 'd', '--subresource=status', '-n', 'sub'))
        self.step('scale', lambda: self.expect(kubectl(
            'get', 'deployment', 'd', '--subresource=scale', '-n', 'sub', '-o', 'yaml'), 'kind: Scale'))
        self.step('patch', lambda: kubectl(
            'patch', 'deployment', 'd', '--subresource=status', '--type=merge', '-n', 'sub', '-p',
            '{"status":{"replicas":1}}'))

    def test_events(self):
        make_namespace('events')
        kubectl('run', 'p', '--image=i', '-n', 'events')
        kubectl('create', '-n', 'events', '-f', '-', stdin={
            'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': 'e'}, 'type': 'Normal',
            'involvedObject': {'apiVersion': 'v1', 'kind': 'Pod', 'name': 'p', 'namespace': 'events'},
            'reason': 'Tried', 'message': 'hello', 'firstTimestamp': '2024-01-01T00:00:00Z',
            'lastTimestamp': '2024-01-01T00:00:00Z', 'count': 1})
        self.step('get', lambda: self.expect(kubectl('get', 'events', '-n', 'events'), 'Tried'))
        self.step('new group', lambda: self.expect(
            kubectl('get', 'events.events.k8s.io', '-n', 'events'), 'Tried'))
        if kubectl.minor > 26:
            self.step('events', lambda: self.expect(kubectl('events', '-n', 'events'), 'Tried'))
