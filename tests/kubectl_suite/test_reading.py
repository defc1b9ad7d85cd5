"""get in all its forms, and watching."""
import threading

from client import Failed
from steps import Steps, kubectl, make_namespace


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
