"""Commands that change objects or make new ones."""
from kinds import SELECTOR, TEMPLATE
from steps import MERGE, Steps, kubectl, make_namespace


class Writing(Steps):
    @classmethod
    def setUpClass(cls):
        make_namespace('writing')
        kubectl('apply', '-n', 'writing', '-f', '-', stdin={
            'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'd'},
            'spec': {'replicas': 2, 'selector': SELECTOR, 'template': TEMPLATE}})

    def run_here(self, *arguments, **more):
        return kubectl(*arguments, '-n', 'writing', **more)

    def deployment(self, path):
        return self.run_here('get', 'deployment', 'd', '-o', f'jsonpath={{{path}}}')

    def test_scale(self):
        self.expect(self.run_here('scale', 'deployment/d', '--replicas=5'), 'scaled')
        self.assertEqual(self.deployment('.spec.replicas'), '5')
        out = kubectl.command('scale', 'deployment/d', '--current-replicas=9', '--replicas=1', '-n',
                              'writing')[2]
        self.expect(out, 'Expected replicas to be 9')

    def test_set(self):
        self.step('image', lambda: self.run_here('set', 'image', 'deployment/d', 'c=app:v2'))
        self.step('image is set', lambda: self.assertEqual(
            self.deployment('.spec.template.spec.containers[0].image'), 'app:v2'))
        self.step('env', lambda: self.run_here('set', 'env', 'deployment/d', 'A=1'))
        self.step('env is set', lambda: self.expect(
            self.run_here('set', 'env', 'deployment/d', '--list'), 'A=1'))
        self.step('resources', lambda: self.run_here(
            'set', 'resources', 'deployment/d', '--limits=cpu=1', '--requests=cpu=500m'))
        self.step('serviceaccount', lambda: self.run_here(
            'set', 'serviceaccount', 'deployment/d', 'default'))

    def test_rollout(self):
        self.step('restart', lambda: self.expect(
            self.run_here('rollout', 'restart', 'deployment/d'), 'restarted'))
        self.step('restarted at', lambda: self.assertTrue(self.deployment(
            r'.spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt')))
        self.step('history', lambda: self.run_here('rollout', 'history', 'deployment/d'))
        self.step('pause', lambda: self.run_here('rollout', 'pause', 'deployment/d'))
        self.step('resume', lambda: self.run_here('rollout', 'resume', 'deployment/d'))

        def status():
            generation = int(self.deployment('.metadata.generation'))
            replicas = int(self.deployment('.spec.replicas'))
            code, body = kubectl.server.request(
                'PATCH', '/apis/apps/v1/namespaces/writing/deployments/d/status',
                {'status': {'observedGeneration': generation, 'replicas': replicas,
                            'updatedReplicas': replicas, 'readyReplicas': replicas,
                            'availableReplicas': replicas,
                            'conditions': [{'type': 'Available', 'status': 'True'}]}}, MERGE)
            self.assertEqual(code, 200, body)
            self.expect(self.run_here('rollout', 'status', 'deployment/d', '--timeout=10s'),
                        'successfully rolled out')
            self.expect(self.run_here('wait', 'deployment/d', '--for=condition=Available',
                                      '--timeout=10s'), 'condition met')
        self.step('status and wait', status)

    def test_rollout_history_from_revisions(self):
        self.run_here('create', '-f', '-', stdin={
            'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'metadata': {'name': 'ds'},
            'spec': {'selector': SELECTOR, 'template': TEMPLATE}})
        owner = kubectl.json('get', 'daemonset', 'ds', '-n', 'writing')['metadata']['uid']
        self.run_here('create', '-f', '-', stdin={
            'apiVersion': 'apps/v1', 'kind': 'ControllerRevision', 'revision': 1,
            'metadata': {'name': 'ds-1', 'labels': {'app': 'x'}, 'ownerReferences': [
                {'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'name': 'ds', 'uid': owner,
                 'controller': True}]},
            'data': {'spec': {'template': TEMPLATE}}})
        self.expect(self.run_here('rollout', 'history', 'daemonset/ds'), 'REVISION')
        self.run_here('rollout', 'history', 'daemonset/ds', '--revision=1')

    def test_expose_run_autoscale(self):
        self.step('expose', lambda: self.expect(
            self.run_here('expose', 'deployment/d', '--port=80', '--target-port=8080'), 'exposed'))
        self.step('service', lambda: self.assertTrue(
            self.run_here('get', 'service', 'd', '-o', 'jsonpath={.spec.clusterIP}')))
        self.step('run', lambda: self.expect(
            self.run_here('run', 'p', '--image=app:v1', '--labels=a=b'), 'pod/p created'))
        self.step('expose pod', lambda: self.run_here('expose', 'pod', 'p', '--port=80', '--name=pp'))
        self.step('run dry', lambda: self.run_here('run', 'q', '--image=i', '--dry-run=server'))
        self.step('autoscale', lambda: self.run_here('autoscale', 'deployment/d', '--max=4'))
        self.step('hpa', lambda: self.expect(self.run_here('get', 'hpa', 'd'), 'Deployment/d'))

    def test_generators(self):
        for command in (
                'secret generic s --from-literal=a=b', 'secret docker-registry r --docker-server=x '
                '--docker-username=u --docker-password=p', 'serviceaccount sa',
                'deployment gd --image=i', 'job j --image=i', 'cronjob cj --image=i --schedule=@daily',
                'service clusterip cip --tcp=80:80', 'service nodeport np --tcp=80:80',
                'service externalname en --external-name=example.com',
                'service loadbalancer lb --tcp=80:80', 'role r --verb=get --resource=pods',
                'rolebinding rb --role=r --user=u', 'quota q --hard=pods=1000',
                'poddisruptionbudget b --selector=a=b --min-available=1',
                'ingress i --rule=example.com/*=svc:80'):
            if kubectl.minor <= 20 and command.split()[0] in ('poddisruptionbudget', 'cronjob'):
                continue  # old clients write versions that are gone
            self.step(command, lambda: self.expect(
                self.run_here('create', *command.split()), 'created'))
        self.step('job from cronjob', lambda: kubectl.minor <= 20 or self.run_here(
            'create', 'job', 'j2', '--from=cronjob/cj'))

    def test_dry_run(self):
        for way in ('client', 'server'):
            out = self.run_here('create', 'configmap', 'dry', f'--dry-run={way}')
            self.expect(out, f'created ({"server " if way == "server" else ""}dry run)')
        self.expect(kubectl.command('get', 'cm', 'dry', '-n', 'writing')[2], 'NotFound')

    def test_validation(self):
        bad = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'bad'}, 'dta': {'a': 'b'}}
        code, _, err = kubectl.command('create', '-f', '-', '-n', 'writing', stdin=bad)
        self.assertEqual(code, 1)
        self.expect(err, 'dta')
        kubectl('create', '-f', '-', '--validate=false', '-n', 'writing', stdin=bad)

    def test_edit(self):
        self.run_here('create', 'configmap', 'edited', '--from-literal=a=before')
        self.run_here('edit', 'configmap', 'edited', env={'KUBE_EDITOR': 'sed -i s/before/after/'})
        self.assertEqual(self.run_here('get', 'cm', 'edited', '-o', 'jsonpath={.data.a}'), 'after')

    def test_apply_prune_and_conflicts(self):
        def cm(name, value):
            return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'data': {'a': value},
                    'metadata': {'name': name, 'labels': {'set': 'one'}}}
        both = {'apiVersion': 'v1', 'kind': 'List', 'items': [cm('k1', '1'), cm('k2', '1')]}
        self.run_here('apply', '-f', '-', stdin=both)
        out = self.run_here('apply', '-f', '-', '--prune', '-l', 'set=one',
                            *(['--prune-whitelist=core/v1/ConfigMap'] if kubectl.minor <= 25 else
                              ['--prune-allowlist=core/v1/ConfigMap']), stdin=cm('k1', '2'))
        self.expect(out, 'configmap/k2 pruned')
        self.run_here('apply', '--server-side', '--field-manager=one', '-f', '-', stdin=cm('ssa', '1'))
        err = kubectl.command('apply', '--server-side', '--field-manager=two', '-n', 'writing', '-f',
                              '-', stdin=cm('ssa', '2'))[2]
        self.expect(err, 'conflict with "one"')
        self.expect(err, '.data.a')
        self.run_here('apply', '--server-side', '--field-manager=two', '--force-conflicts', '-f', '-',
                      stdin=cm('ssa', '2'))

    def test_apply_adopts_client_side_objects(self):
        cm = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'moved'},
              'data': {'a': '1', 'b': '1'}}
        self.run_here('apply', '-f', '-', stdin=cm)
        del cm['data']['b']
        self.run_here('apply', '--server-side', '-f', '-', stdin=cm)
        if kubectl.minor > 20:  # the migration of managers came later
            self.assertEqual(kubectl.json('get', 'cm', 'moved', '-n', 'writing')['data'], {'a': '1'})

    def test_replace_force(self):
        cm = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'forced'}}
        self.run_here('create', '-f', '-', stdin=cm)
        before = kubectl.json('get', 'cm', 'forced', '-n', 'writing')['metadata']['uid']
        self.run_here('replace', '--force', '-f', '-', stdin=cm)
        after = kubectl.json('get', 'cm', 'forced', '-n', 'writing')['metadata']['uid']
        self.assertNotEqual(before, after)
