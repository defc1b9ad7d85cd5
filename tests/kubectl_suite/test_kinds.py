"""The same life for one object of every kind."""
import json

from kinds import KINDS
from steps import Steps, kubectl, make_namespace


class Kinds(Steps):
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
            if kubectl.minor >= kind.describes_from:
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


add_kind_tests()
