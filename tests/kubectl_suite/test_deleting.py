"""delete in all its modes."""
from kinds import POD_SPEC
from steps import Steps, kubectl, make_namespace


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
