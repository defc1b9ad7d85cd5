#!/usr/bin/env python3
"""Drives a real kubectl through everything it does to an API server.

usage: suite.py [--kubectl PATH] [--url URL --token TOKEN] [--report FILE] KEELSON [TestCase.test ...]

Starts KEELSON with an empty store, or uses the server at --url. No controllers run, so what they
would do is written by the tests themselves. --report writes one line for each failed step.
"""
import argparse
import json
import os
import shutil
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Failed, Kubectl, Server  # noqa: E402
from kubelet import Kubelet  # noqa: E402
from kinds import KINDS, POD_SPEC, SELECTOR, SIGNING_REQUEST, TEMPLATE  # noqa: E402

kubectl = None  # set by main
MERGE = 'application/merge-patch+json'


def make_namespace(name):
    kubectl('create', 'namespace', name)
    code, _, err = kubectl.command('create', 'serviceaccount', 'default', '-n', name)
    if code and 'already exists' not in err:
        raise Failed(err)


class Steps(unittest.TestCase):
    """Tests made of steps that are judged one by one."""

    def setUp(self):
        self.given_up = False

    def step(self, name, function, *arguments):
        """Runs one step; later ones run even if it fails."""
        with self.subTest(name):
            return function(*arguments)

    def expect(self, text, wanted):
        if wanted not in text:
            raise Failed(f'{wanted!r} is not in {text!r}')


class Kinds(Steps):
    """The same life for one object of every kind."""

    @classmethod
    def setUpClass(cls):
        make_namespace('kinds')

    def live(self, kind):
        place = [] if kind.cluster else ['-n', 'kinds']
        name = f'{kind.argument}/{kind.name}'
        manifest = kind.manifest()

        def create():
            self.expect(kubectl('create', '-f', '-', *place, stdin=manifest), 'created')

        def get_json():
            got = kubectl.json('get', name, *place)
            self.assertEqual((got['kind'], got['apiVersion']), (kind.kind, kind.api_version))
            self.assertEqual(got['metadata']['name'], kind.name)

        def get_table():
            out = kubectl('get', kind.argument, kind.name, '-o', 'wide', *place)
            self.assertEqual(len(out.splitlines()), 2)
            if kind.kind != 'Event':  # shows what it is about instead
                self.expect(out, kind.name)

        def describe():
            if kubectl.minor > 20 or kind.old_describes:
                self.expect(kubectl('describe', kind.argument, kind.name, *place), kind.name)

        def label():
            kubectl('label', name, 'tier=one', *place)
            self.expect(kubectl('get', kind.argument, '-l', 'tier=one', '-o', 'name', *place), kind.name)

        def annotate():
            kubectl('annotate', name, 'example.com/note=two', *place)
            out = kubectl('get', name, '-o', r'jsonpath={.metadata.annotations.example\.com/note}', *place)
            self.assertEqual(out, 'two')

        def patch():
            for form, body in (('merge', {'metadata': {'labels': {'p1': 'm'}}}),
                               ('strategic', {'metadata': {'labels': {'p2': 's'}}}),
                               ('json', [{'op': 'add', 'path': '/metadata/labels/p3', 'value': 'j'}])):
                kubectl('patch', name, '--type', form, '-p', json.dumps(body), *place)
            labels = kubectl.json('get', name, *place)['metadata']['labels']
            self.assertEqual([labels.get(k) for k in ('p1', 'p2', 'p3')], ['m', 's', 'j'])

        def apply():
            # Adopts what was created, then changes nothing, then changes something.
            kubectl('apply', '-f', '-', *place, stdin=manifest)
            out = kubectl('apply', '-f', '-', *place, stdin=manifest)
            self.assertRegex(out, 'unchanged' if kind.settles else 'unchanged|configured')
            out = kubectl('apply', '-f', '-', *place, stdin=kind.manifest(labels={'via': 'apply'}))
            self.expect(out, 'configured')

        def diff():
            changed = kind.manifest(labels={'via': 'diff'})
            self.expect(kubectl('diff', '-f', '-', *place, stdin=changed, code=1), 'via: diff')

        def server_side():
            out = kubectl('apply', '--server-side', '--force-conflicts', '-f', '-', *place,
                          stdin=kind.manifest(labels={'via': 'server'}))
            self.expect(out, 'serverside-applied')

        def replace():
            current = kubectl.json('get', name, *place)
            current['metadata'].setdefault('labels', {})['via'] = 'replace'
            self.expect(kubectl('replace', '-f', '-', *place, stdin=current), 'replaced')

        def delete():
            self.expect(kubectl('delete', name, '--wait=false', '--now', *place), 'deleted')
            if not kind.finalizes:
                self.expect(kubectl.command('get', name, *place)[2], 'NotFound')

        for one in (create, get_json, get_table, describe, label, annotate, patch, apply, diff,
                    server_side, replace, delete):
            self.step(one.__name__, one)


def add_kind_tests():
    for kind in KINDS:
        test = (lambda k: lambda self: self.live(k))(kind)
        name = f'test_{kind.kind}_{kind.api_version.replace("/", "_").replace(".", "_")}'
        setattr(Kinds, name, test)


class Reading(Steps):
    @classmethod
    def setUpClass(cls):
        make_namespace('reading')
        for i in range(7):
            kubectl('create', 'configmap', f'c{i}', f'--from-literal=n={9 - i}', '-n', 'reading')
        kubectl('label', 'configmap', 'c1', 'c3', 'odd=yes', '-n', 'reading')

    def get(self, *arguments):
        return kubectl('get', 'configmaps', '-n', 'reading', *arguments)

    def test_output_forms(self):
        forms = {
            'json': '"kind": "List"', 'yaml': 'kind: List', 'name': 'configmap/c3', 'wide': 'c3',
            'jsonpath={.items[*].metadata.name}': 'c0 c1 c2',
            'jsonpath-as-json={.items[0].data}': '"n": "9"',
            'go-template={{range .items}}{{.metadata.name}};{{end}}': 'c0;c1;',
            'custom-columns=A:.metadata.name,B:.data.n': 'c2    7',
        }
        for form, wanted in forms.items():
            self.step(form, lambda: self.expect(self.get('-o', form), wanted))
        self.step('no-headers', lambda: self.assertNotIn('NAME', self.get('--no-headers')))
        self.step('show-labels', lambda: self.expect(self.get('--show-labels'), 'odd=yes'))
        self.step('label-columns', lambda: self.expect(self.get('-L', 'odd'), 'ODD'))
        self.step('show-kind', lambda: self.expect(self.get('--show-kind'), 'configmap/c0'))

    def test_columns_come_from_the_server(self):
        self.assertEqual(self.get().splitlines()[0].split(), ['NAME', 'DATA', 'AGE'])

    def names(self, *arguments):
        return [line.split('/')[1] for line in self.get('-o', 'name', *arguments).splitlines()]

    def test_selectors(self):
        for selector, wanted in (('odd=yes', ['c1', 'c3']), ('odd', ['c1', 'c3']),
                                 ('odd in (yes,no)', ['c1', 'c3']), ('odd=no', [])):
            self.step(selector, lambda: self.assertEqual(self.names('-l', selector), wanted))
        self.step('not', lambda: self.assertEqual(len(self.names('-l', '!odd')), 5))
        self.step('field', lambda: self.assertEqual(
            self.names('--field-selector', 'metadata.name=c4'), ['c4']))
        self.step('field and label', lambda: self.assertEqual(
            self.names('--field-selector', 'metadata.name!=c1', '-l', 'odd'), ['c3']))

    def test_sorting(self):
        out = self.get('--sort-by', '.data.n', '--no-headers')
        self.assertEqual([line.split()[0] for line in out.splitlines()],
                         ['c6', 'c5', 'c4', 'c3', 'c2', 'c1', 'c0'])

    def test_chunks(self):
        self.assertEqual(len(self.names('--chunk-size=2')), 7)

    def test_many_resources_and_all_namespaces(self):
        out = kubectl('get', 'configmaps,serviceaccounts', '-A')
        self.expect(out, 'configmap/c0')
        self.expect(out, 'serviceaccount/default')

    def test_get_all(self):
        kubectl('get', 'all', '-A')

    def test_missing(self):
        self.expect(kubectl.command('get', 'cm', 'none', '-n', 'reading')[2],
                    'Error from server (NotFound): configmaps "none" not found')
        self.assertEqual(self.get('none', '--ignore-not-found'), '')
        code, _, err = kubectl.command('get', 'nosuchkind')
        self.assertEqual(code, 1)
        self.expect(err, 'the server doesn\'t have a resource type "nosuchkind"')

    def test_raw(self):
        self.expect(kubectl('get', '--raw', '/readyz'), 'ok')
        self.expect(kubectl('get', '--raw', '/version'), '"major"')

    def watch(self, *arguments, until, act):
        """Lines of `get -w` up to the one that holds `until`."""
        process = kubectl.start('get', 'configmaps', '-n', 'reading', '-w', *arguments)
        timer = threading.Timer(20, process.kill)
        timer.start()
        lines, acted = [], False
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                if not acted:
                    acted = True
                    act()
                if until in line:
                    return lines
            raise Failed(f'no {until!r} in {lines}')
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            process.stdout.close()

    def test_watch(self):
        def act():
            kubectl('create', 'configmap', 'watched', '-n', 'reading')
        lines = self.watch(until='watched', act=act)
        self.assertEqual(lines[0].split(), ['NAME', 'DATA', 'AGE'])
        kubectl('delete', 'configmap', 'watched', '-n', 'reading')

    def test_watch_with_events_and_selector(self):
        def act():
            kubectl('label', 'configmap', 'c5', 'odd=yes', '-n', 'reading')
            kubectl('label', 'configmap', 'c5', 'odd-', '-n', 'reading')
        lines = self.watch('-l', 'odd', '--output-watch-events', until='DELETED', act=act)
        self.expect('\n'.join(lines), 'ADDED')
        self.expect(lines[-1], 'c5')

    def test_watch_as_json(self):
        out = kubectl.start('get', 'configmap', 'c0', '-n', 'reading', '-w', '-o', 'jsonpath={.data.n}')
        self.assertEqual(out.stdout.read(1), '9')
        out.kill()
        out.wait()
        out.stdout.close()


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


class Deleting(Steps):
    @classmethod
    def setUpClass(cls):
        make_namespace('deleting')

    def here(self, *arguments, **more):
        return kubectl(*arguments, '-n', 'deleting', **more)

    def make(self, *names):
        for name in names:
            self.here('create', 'configmap', name)
            self.here('label', 'configmap', name, 'doomed=yes')

    def test_by_name_selector_and_all(self):
        self.make('a', 'b', 'c')
        self.step('name', lambda: self.expect(self.here('delete', 'cm', 'a'), 'configmap "a" deleted'))
        self.step('selector', lambda: self.expect(self.here('delete', 'cm', '-l', 'doomed'), '"b"'))
        self.step('nothing left', lambda: self.assertEqual(self.here('get', 'cm', '-o', 'name'), ''))
        self.make('d')
        self.step('all', lambda: self.expect(self.here('delete', 'cm', '--all'), '"d"'))
        self.step('missing', lambda: self.here('delete', 'cm', 'none', '--ignore-not-found'))

    def test_cascade_modes(self):
        for mode in ('background', 'orphan', 'foreground'):
            def one():
                self.here('create', 'deployment', mode, '--image=i')
                self.here('delete', 'deployment', mode, f'--cascade={mode}', '--wait=false')
                out = kubectl.command('get', 'deployment', mode, '-o',
                                      'jsonpath={.metadata.finalizers}', '-n', 'deleting')[1]
                wanted = {'background': '', 'orphan': '["orphan"]',
                          'foreground': '["foregroundDeletion"]'}[mode]
                self.assertEqual(out, wanted)
            self.step(mode, one)

    def test_pods_with_grace(self):
        def pod(name, **spec):
            self.here('create', '-f', '-', stdin={
                'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name},
                'spec': {**POD_SPEC, **spec}})

        def grace(name):
            return self.here('get', 'pod', name, '-o', 'jsonpath={.metadata.deletionGracePeriodSeconds}')

        pod('g', nodeName='n')
        self.here('delete', 'pod', 'g', '--grace-period=7', '--wait=false')
        self.step('grace', lambda: self.assertEqual(grace('g'), '7'))
        self.step('status', lambda: self.expect(self.here('get', 'pod', 'g'), 'Terminating'))
        self.step('force', lambda: self.here('delete', 'pod', 'g', '--grace-period=0', '--force'))
        pod('n', nodeName='n')
        self.step('now', lambda: self.here('delete', 'pod', 'n', '--now', '--wait=false'))
        self.step('one second', lambda: self.assertEqual(grace('n'), '1'))
        pod('u')
        self.step('unscheduled', lambda: self.here('delete', 'pod', 'u'))

    def test_wait(self):
        self.make('w')
        self.here('patch', 'cm', 'w', '--type=merge', '-p', '{"metadata":{"finalizers":["a.b/c"]}}')
        process = kubectl.start('delete', 'cm', 'w', '-n', 'deleting', '--timeout=20s')
        process.stdout.readline()
        self.assertIsNone(process.poll())
        self.here('patch', 'cm', 'w', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
        self.assertEqual(process.wait(20), 0)
        process.stdout.close()
        self.make('v')
        waiting = kubectl.start('wait', 'cm/v', '--for=delete', '--timeout=20s', '-n', 'deleting')
        self.here('delete', 'cm', 'v')
        self.assertEqual(waiting.wait(20), 0)
        waiting.stdout.close()

    def test_dry_run(self):
        self.make('kept')
        self.expect(self.here('delete', 'cm', 'kept', '--dry-run=server'), 'server dry run')
        self.here('get', 'cm', 'kept')


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

    def test_custom_resources(self):
        kubectl('create', '-f', '-', stdin={
            'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition',
            'metadata': {'name': 'boats.suite.example.com'}, 'spec': {
                'group': 'suite.example.com', 'scope': 'Namespaced', 'names': {
                    'plural': 'boats', 'kind': 'Boat', 'shortNames': ['bt']},
                'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {
                    'openAPIV3Schema': {'type': 'object', 'properties': {'spec': {
                        'type': 'object', 'properties': {'length': {'type': 'integer'}}}}}}}]}})
        kubectl('wait', 'crd/boats.suite.example.com', '--for=condition=Established', '--timeout=10s')


class Nodes(Steps):
    """What goes on to the kubelet of a pod's node."""

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


class Report(unittest.TextTestResult):
    """Keeps one line for each failed step."""
    lines = []

    def note(self, test, error):
        text = str(error[1]).strip().splitlines()
        self.lines.append(f'{test.id().replace("__main__.", "")}: {text[0][:400] if text else error[0]}')

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.note(subtest, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, error)


def main():
    global kubectl
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kubectl', default=os.environ.get('KUBECTL') or shutil.which('kubectl'))
    parser.add_argument('--url')
    parser.add_argument('--token')
    parser.add_argument('--report')
    parser.add_argument('rest', nargs='*')
    arguments = parser.parse_args()
    binary = None if arguments.url else arguments.rest.pop(0)
    if not arguments.kubectl:
        raise SystemExit('no kubectl: install one or name it in KUBECTL')
    add_kind_tests()
    server = Server(binary) if binary else Server(url=arguments.url, token=arguments.token)
    kubectl = Kubectl(arguments.kubectl, server)
    try:
        program = unittest.main(argv=[sys.argv[0], *arguments.rest], exit=False,
                                testRunner=unittest.TextTestRunner(resultclass=Report))
    finally:
        server.stop()
    if arguments.report:
        with open(arguments.report, 'w') as file:
            file.writelines(line + '\n' for line in sorted(Report.lines))
    return 0 if program.result.wasSuccessful() else 1


if __name__ == '__main__':
    sys.exit(main())
