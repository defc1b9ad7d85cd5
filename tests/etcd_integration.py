#!/usr/bin/env python3
"""The server on an etcd cluster: what is stored, several servers on one store, etcd that goes away, and data
shared with kube-apiserver in both directions.

usage: etcd_integration.py KEELSON [TestCase.test ...]

Needs an etcd: $ETCD_BIN, `etcd` in $PATH, or $PEER_BIN/etcd. The tests with kube-apiserver need
$PEER_BIN/kube-apiserver. What is missing is said, and the tests that need it are skipped.
"""
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'kubectl_suite'))
from kinds import KINDS  # noqa: E402

HOST = '127.0.0.1'
TOKEN = 'etcd-integration'
KEELSON = None
PEER = os.environ.get('PEER_BIN', '')
TLS = ssl.create_default_context()
TLS.check_hostname = False
TLS.verify_mode = ssl.CERT_NONE


def find_etcd():
    for path in (os.environ.get('ETCD_BIN'), os.path.join(PEER, 'etcd') if PEER else None, shutil.which('etcd')):
        if path and os.access(path, os.X_OK):
            return path
    return None


ETCD = find_etcd()
APISERVER = os.path.join(PEER, 'kube-apiserver') if PEER else ''


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


class Process:
    """A program with a folder of its own, gone with the object."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='keelson-etcd-test-')
        self.process = None

    def launch(self, *words):
        with open(os.path.join(self.folder, 'log'), 'ab') as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log)

    def log(self):
        with open(os.path.join(self.folder, 'log'), errors='replace') as log:
            return log.read()

    def await_true(self, what, seconds=40):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if what():
                    return
            except (OSError, http.client.HTTPException):
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError('did not come up:\n' + self.log()[-4000:])

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Etcd(Process):
    def __init__(self):
        super().__init__()
        self.url = f'http://{HOST}:{free_port()}'
        self.peer = f'http://{HOST}:{free_port()}'
        self.start()

    def start(self):
        self.launch(ETCD, f'--data-dir={self.folder}/data', f'--listen-client-urls={self.url}',
                    f'--advertise-client-urls={self.url}', f'--listen-peer-urls={self.peer}',
                    f'--initial-advertise-peer-urls={self.peer}', f'--initial-cluster=default={self.peer}',
                    '--log-level=error')
        self.await_true(lambda: b'"true"' in urllib.request.urlopen(self.url + '/health', timeout=2).read())

    def values(self, prefix):
        """All keys and values below a prefix, by etcd's JSON gateway."""
        import base64
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        body = json.dumps({'key': base64.b64encode(prefix.encode()).decode(),
                           'range_end': base64.b64encode(end.encode()).decode()}).encode()
        answer = json.load(urllib.request.urlopen(self.url + '/v3/kv/range', body, timeout=10))
        return {base64.b64decode(kv['key']).decode(): base64.b64decode(kv.get('value', ''))
                for kv in answer.get('kvs', [])}


class Api(Process):
    """A server of the Kubernetes API on an etcd: ours, or kube-apiserver."""

    def __init__(self, etcd, program=None, *flags, data_dir=None):
        super().__init__()
        self.port = free_port()
        tokens = os.path.join(self.folder, 'tokens.csv')
        with open(tokens, 'w') as file:
            file.write(f'{TOKEN},tester,1,"system:masters"\n')
        words = [program or KEELSON, f'--secure-port={self.port}', f'--bind-address={HOST}',
                 f'--cert-dir={self.folder}', f'--token-auth-file={tokens}',
                 '--service-cluster-ip-range=10.96.0.0/16', '--authorization-mode=RBAC',
                 '--advertise-address=192.0.2.10', *flags]
        if etcd:
            words.append(f'--etcd-servers={etcd.url}')
        if program:
            key = os.path.join(self.folder, 'sa.key')
            subprocess.run(['openssl', 'genrsa', '-out', key, '2048'], check=True, capture_output=True)
            words += ['--service-account-issuer=https://kubernetes.default.svc',
                      f'--service-account-key-file={key}', f'--service-account-signing-key-file={key}',
                      '--runtime-config=api/all=true',
                      '--enable-admission-plugins=', '--disable-admission-plugins=ServiceAccount,LimitRanger']
        else:
            words += [f'--data-dir={data_dir or self.folder + "/data"}',
                      '--disable-admission-plugins=ServiceAccount,LimitRanger']
        self.launch(*words)
        self.await_true(lambda: self.get('/readyz')[0] == 200)

    def request(self, method, path, body=None, kind='application/json', timeout=30):
        connection = http.client.HTTPSConnection(HOST, self.port, timeout=timeout, context=TLS)
        try:
            data = json.dumps(body) if body is not None else None
            connection.request(method, path, data, {'Authorization': 'Bearer ' + TOKEN, 'Content-Type': kind})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def get(self, path):
        return self.request('GET', path)

    def json(self, method, path, body=None, kind='application/json'):
        status, text = self.request(method, path, body, kind)
        if status not in (200, 201):
            raise AssertionError(f'{method} {path}: {status} {text}')
        return json.loads(text)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'


def config_map(name, **data):
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name}, 'data': data}


@unittest.skipUnless(ETCD, 'no etcd: install etcd-server, or name one by ETCD_BIN or PEER_BIN')
class OnEtcd(unittest.TestCase):
    def test_objects_are_stored_as_upstream_stores_them(self):
        with Etcd() as etcd, Api(etcd) as api:
            api.json('POST', CONFIG_MAPS, config_map('a', k='v'))
            values = etcd.values('/registry/')
            self.assertTrue(values['/registry/configmaps/default/a'].startswith(b'k8s\0\n\x0f\n\x02v1\x12\tConfigMap'))
            for key, value in values.items():
                # Numbers and addresses that are given out are kept in the same envelope.
                self.assertTrue(value.startswith(b'k8s\0'), key)

    def test_another_prefix(self):
        with Etcd() as etcd, Api(etcd, None, '--etcd-prefix=/elsewhere') as api:
            api.json('POST', CONFIG_MAPS, config_map('a', k='v'))
            self.assertIn('/elsewhere/configmaps/default/a', etcd.values('/elsewhere/'))
            self.assertEqual(etcd.values('/registry/'), {})
            self.assertEqual(api.json('GET', CONFIG_MAPS + '/a')['data'], {'k': 'v'})

    def test_servers_see_each_others_writes_at_once(self):
        with Etcd() as etcd, Api(etcd) as one, Api(etcd) as two:
            for i in range(50):
                writer, reader = (one, two) if i % 2 else (two, one)
                writer.json('POST', CONFIG_MAPS, config_map(f'c{i}', n=str(i)))
                self.assertEqual(reader.json('GET', f'{CONFIG_MAPS}/c{i}')['data'], {'n': str(i)})
                names = [item['metadata']['name'] for item in reader.json('GET', CONFIG_MAPS)['items']]
                self.assertIn(f'c{i}', names)

    def test_writers_of_two_servers_do_not_lose_each_others_changes(self):
        with Etcd() as etcd, Api(etcd) as one, Api(etcd) as two:
            one.json('POST', CONFIG_MAPS, config_map('shared'))
            def write(api, name):
                for i in range(20):
                    api.json('PATCH', CONFIG_MAPS + '/shared', {'data': {f'{name}{i}': 'x'}},
                             'application/merge-patch+json')
            threads = [threading.Thread(target=write, args=(api, name))
                       for api, name in ((one, 'one'), (two, 'two'))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(two.json('GET', CONFIG_MAPS + '/shared')['data']), 40)

    def test_etcd_goes_away_and_comes_back(self):
        with Etcd() as etcd, Api(etcd) as api:
            api.json('POST', CONFIG_MAPS, config_map('a', k='v'))
            version = api.json('GET', CONFIG_MAPS)['metadata']['resourceVersion']
            lines = []
            def watch():
                connection = http.client.HTTPSConnection(HOST, api.port, timeout=60, context=TLS)
                connection.request('GET', f'{CONFIG_MAPS}?watch=1&resourceVersion={version}',
                                   headers={'Authorization': 'Bearer ' + TOKEN})
                response = connection.getresponse()
                while len(lines) < 2:
                    lines.append(json.loads(response.readline()))
                connection.close()
            watcher = threading.Thread(target=watch)
            watcher.start()
            api.json('POST', CONFIG_MAPS, config_map('before'))
            self.assertEqual(len(api.json('GET', CONFIG_MAPS)['items']), 2)  # so the cache has it
            etcd.kill()
            # Reads that may be a little old go on.
            self.assertEqual(api.json('GET', CONFIG_MAPS + '/a?resourceVersion=0')['data'], {'k': 'v'})
            self.assertEqual(len(api.json('GET', CONFIG_MAPS + '?resourceVersion=0')['items']), 2)
            # Writes fail soon, and say what upstream says.
            begun = time.monotonic()
            status, text = api.request('POST', CONFIG_MAPS, config_map('lost'))
            self.assertLess(time.monotonic() - begun, 5)
            self.assertEqual((status, json.loads(text)['reason'], json.loads(text)['message']),
                             (504, 'Timeout', 'Timeout: request did not complete within requested timeout - '
                                              'context deadline exceeded'))
            api.await_true(lambda: api.get('/readyz')[0] == 500)
            api.await_true(lambda: 'error getting data from etcd: ' in api.get('/readyz/etcd-readiness')[1])
            self.assertIn('[-]etcd failed: reason withheld', api.get('/livez')[1])
            etcd.start()
            api.await_true(lambda: api.get('/readyz')[0] == 200)
            api.json('POST', CONFIG_MAPS, config_map('after'))
            self.assertEqual(api.json('GET', CONFIG_MAPS + '/after')['metadata']['name'], 'after')
            watcher.join(20)
            self.assertEqual([(line['type'], line['object']['metadata']['name']) for line in lines],
                             [('ADDED', 'before'), ('ADDED', 'after')])

    def test_an_etcd_that_is_not_there_is_one_clear_message(self):
        done = subprocess.run([KEELSON, f'--etcd-servers=http://{HOST}:{free_port()}', '--data-dir=',
                               f'--cert-dir={tempfile.gettempdir()}', f'--secure-port={free_port()}'],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn('etcd cannot be used: ', done.stderr.splitlines()[-1])
        self.assertIn('connection refused', done.stderr.splitlines()[-1])


def key(fill):
    import base64
    return base64.b64encode(fill.encode() * 32).decode()


def encryption(folder, rules, name='encryption.yaml'):
    '''A file that has resources encrypted: {resource: [(provider, key name, key), ...]}.'''
    path = os.path.join(folder, name)
    config = {'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'EncryptionConfiguration',
              'resources': [{'resources': [resource],
                             'providers': [{provider: {'keys': [{'name': k, 'secret': s}]}}
                                           for provider, k, s in providers] + [{'identity': {}}]}
                            for resource, providers in rules.items()]}
    with open(path + '.new', 'w') as file:
        json.dump(config, file)
    os.rename(path + '.new', path)
    return f'--encryption-provider-config={path}'


EACH = {'secrets': [('aescbc', 'one', key('a'))], 'configmaps': [('aesgcm', 'two', key('b'))],
        'podtemplates': [('secretbox', 'three', key('c'))]}
ENCRYPTED = {'secrets': ('Secret', {'data': {'k': 'dg=='}}), 'configmaps': ('ConfigMap', {'data': {'k': 'v'}}),
             'podtemplates': ('PodTemplate', {'template': {'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}})}


def create_encrypted(api, name):
    for resource, (kind, fields) in ENCRYPTED.items():
        api.json('POST', f'/api/v1/namespaces/default/{resource}',
                 {'apiVersion': 'v1', 'kind': kind, 'metadata': {'name': name}, **fields})


def read_encrypted(api, name):
    return {r: api.json('GET', f'/api/v1/namespaces/default/{r}/{name}') for r in ENCRYPTED}


def store(*words):
    done = subprocess.run([KEELSON, 'store', *words], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class OnDisk(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='keelson-store-test-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.data = os.path.join(self.folder, 'data')

    def stored(self, text):
        return subprocess.run(['grep', '-rlaF', text, self.data + '/store'], capture_output=True).stdout != b''

    def test_secrets_are_not_readable_on_disk(self):
        flag = encryption(self.folder, EACH)
        with Api(None, None, flag, data_dir=self.data) as api:
            api.json('POST', '/api/v1/namespaces/default/secrets',
                     {'metadata': {'name': 'a'}, 'stringData': {'k': 'correct horse'}})
            api.json('POST', '/api/v1/namespaces/default/endpoints', {'metadata': {'name': 'plain-as-day'}})
            self.assertEqual(api.json('GET', '/api/v1/namespaces/default/secrets/a')['data'],
                             {'k': 'Y29ycmVjdCBob3JzZQ=='})
            api.stop()
        self.assertTrue(self.stored('plain-as-day'))
        self.assertFalse(self.stored('Y29ycmVjdCBob3JzZQ=='))
        with Api(None, None, flag, data_dir=self.data) as api:
            self.assertEqual(api.json('GET', '/api/v1/namespaces/default/secrets/a')['data'],
                             {'k': 'Y29ycmVjdCBob3JzZQ=='})

    def test_keys_are_rotated_by_reload_and_rewrite(self):
        old, new = ('aescbc', 'old', key('o')), ('secretbox', 'new', key('n'))
        flag = encryption(self.folder, {'secrets': [old]})
        with Api(None, None, flag, '--encryption-provider-config-automatic-reload', data_dir=self.data) as api:
            for i in range(5):
                api.json('POST', '/api/v1/namespaces/default/secrets', {'metadata': {'name': f's{i}'}})
            encryption(self.folder, {'secrets': [new, old]})
            api.await_true(lambda: 'the encryption configuration has changed' in api.log())
            api.json('PATCH', '/api/v1/namespaces/default/secrets/s0', {'metadata': {'labels': {'a': 'b'}}},
                     'application/merge-patch+json')
            api.stop()
        code, out, err = store('rewrite', '--data-dir', self.data, flag)
        self.assertEqual((code, out), (0, 'keys rewritten: 4\n'), err)
        self.assertEqual(store('rewrite', '--data-dir', self.data, flag)[1], 'keys rewritten: 0\n')
        self.assertEqual(store('verify', '--data-dir', self.data)[0], 0)
        with Api(None, None, encryption(self.folder, {'secrets': [new]}), data_dir=self.data) as api:
            self.assertEqual(len(api.json('GET', '/api/v1/namespaces/default/secrets')['items']), 5)

    @unittest.skipUnless(ETCD, 'no etcd: install etcd-server, or name one by ETCD_BIN or PEER_BIN')
    def test_moves_to_etcd_and_back(self):
        with Api(None, None, data_dir=self.data) as api:
            for i in range(300):
                api.json('POST', CONFIG_MAPS, config_map(f'c{i}', n=str(i)))
            before = api.json('GET', CONFIG_MAPS)
            api.stop()
        data = lambda answer: {i['metadata']['name']: (i['metadata']['uid'], i['data']) for i in answer['items']}
        version = lambda answer: int(answer['metadata']['resourceVersion'])
        with Etcd() as etcd:
            code, out, err = store('migrate', '--from', self.data, '--to', etcd.url)
            self.assertEqual(code, 0, err)
            self.assertIn('/registry/configmaps: 301 keys, checksum ', out)
            self.assertTrue(all(v.startswith(b'k8s\0') for v in etcd.values('/registry/').values()))
            again = store('migrate', '--from', self.data, '--to', etcd.url)
            self.assertEqual(again[0], 1)
            self.assertIn('the target is not empty', again[2])
            with Api(etcd) as api:
                moved = api.json('GET', CONFIG_MAPS)
                self.assertEqual(data(moved), data(before))
                self.assertGreater(version(moved), version(before))
                self.assertTrue(all(int(i['metadata']['resourceVersion']) > version(before)
                                    for i in moved['items']))
                api.json('DELETE', CONFIG_MAPS + '/c0')
                api.stop()
            back = os.path.join(self.folder, 'back')
            code, out, err = store('migrate', '--from', etcd.url, '--to', back)
            self.assertEqual(code, 0, err)
        with Api(None, None, data_dir=back) as api:
            returned = api.json('GET', CONFIG_MAPS)
            self.assertEqual(len(returned['items']), 299)
            self.assertGreater(version(returned), version(moved))


def collections(api):
    """(group version, kind) -> (path, namespaced) of what can be created."""
    found = {}
    groups = [(g['name'], v['groupVersion']) for g in api.json('GET', '/apis')['groups'] for v in g['versions']]
    for group, version in [('', 'v1')] + groups:
        root = '/api/v1' if not group else '/apis/' + version
        for resource in api.json('GET', root)['resources']:
            if '/' not in resource['name'] and 'create' in resource['verbs'] and 'list' in resource['verbs']:
                found[version, resource['kind']] = (root, resource['name'], resource['namespaced'])
    return found


def place(where, name=None):
    root, plural, namespaced = where
    path = f"{root}/namespaces/kinds/{plural}" if namespaced else f'{root}/{plural}'
    return f'{path}/{name}' if name else path


@unittest.skipUnless(ETCD, 'no etcd: install etcd-server, or name one by ETCD_BIN or PEER_BIN')
@unittest.skipUnless(APISERVER and os.access(APISERVER, os.X_OK), 'no kube-apiserver: PEER_BIN does not hold one')
class WithKubeApiserver(unittest.TestCase):
    def create_all(self, api, suffix):
        api.json('POST', '/api/v1/namespaces', {'metadata': {'name': 'kinds'}}) if suffix == 'one' else None
        where = collections(api)
        made = {}
        for kind in KINDS:
            target = where.get((kind.api_version, kind.kind))
            if target is None:
                continue
            manifest = kind.manifest(labels={'made-by': suffix})
            manifest['metadata']['name'] = self.name_of(kind, suffix)
            if 'involvedObject' in manifest:
                manifest['involvedObject'] = dict(manifest['involvedObject'], namespace='kinds')
            status, text = api.request('POST', place(target), manifest)
            if status == 201:
                made[kind.api_version, kind.kind] = place(target, manifest['metadata']['name'])
            else:
                self.refused.append((suffix, kind.kind, status, text[:300]))
        return made

    @staticmethod
    def name_of(kind, suffix):
        return kind.name if kind.name != 'x' and not kind.name.startswith('kind-') else f'{kind.name}-{suffix}'

    def test_each_decrypts_what_the_other_encrypted(self):
        folder = tempfile.mkdtemp(prefix='keelson-encryption-')
        self.addCleanup(shutil.rmtree, folder, True)
        flag = encryption(folder, EACH)
        with Etcd() as etcd:
            with Api(etcd, APISERVER, flag) as theirs:
                create_encrypted(theirs, 'one')
                expected = read_encrypted(theirs, 'one')
                theirs.stop()
            with Api(etcd, None, flag) as ours:
                self.assertEqual(read_encrypted(ours, 'one'), expected)
                create_encrypted(ours, 'two')
                expected = read_encrypted(ours, 'two')
                ours.stop()
            for resource, rules in EACH.items():
                for name in ('one', 'two'):
                    value = etcd.values(f'/registry/{resource}/default/{name}')[f'/registry/{resource}/default/{name}']
                    self.assertTrue(value.startswith(f'k8s:enc:{rules[0][0]}:v1:{rules[0][1]}:'.encode()), resource)
            with Api(etcd, APISERVER, flag) as theirs:
                self.assertEqual(read_encrypted(theirs, 'two'), expected)
                theirs.stop()

    def read_all(self, api, paths):
        answers, failures = {}, []
        for key, path in paths.items():
            status, text = api.get(path)
            if status == 200:
                answers[key] = text
            else:
                failures.append(f'{key}: {status} {text}')
        self.assertEqual(failures, [])
        return answers

    def assert_same(self, seen, expected, except_kinds=()):
        different = [(key, text, expected[key]) for key, text in seen.items()
                     if text != expected[key] and key[-1] not in except_kinds]
        self.assertEqual(different, [])

    def test_each_reads_what_the_other_wrote(self):
        self.maxDiff = None
        self.refused = []
        with Etcd() as etcd:
            with Api(etcd, APISERVER) as theirs:
                made_by_them = self.create_all(theirs, 'one')
                as_they_see = self.read_all(theirs, made_by_them)
                theirs.stop()
            with Api(etcd) as ours:
                seen = self.read_all(ours, {k: v for k, v in made_by_them.items()
                                            if k in collections(ours)})
                self.assert_same(seen, as_they_see)
                # Theirs, changed by us, and all kinds anew.
                for key, path in made_by_them.items():
                    if key in seen:
                        ours.json('PATCH', path, {'metadata': {'annotations': {'changed': 'by-keelson'}}},
                                  'application/merge-patch+json')
                # Names that are not ours to choose are free once theirs are gone.
                for kind in KINDS:
                    key = (kind.api_version, kind.kind)
                    if key in seen and self.name_of(kind, 'one') == self.name_of(kind, 'two'):
                        ours.json('DELETE', made_by_them[key])
                        del seen[key]
                made_by_us = self.create_all(ours, 'two')
                paths = {('two', *k): v for k, v in made_by_us.items()}
                paths.update({('one', *k): v for k, v in made_by_them.items() if k in seen})
                as_we_see = self.read_all(ours, paths)
                values = etcd.values('/registry/')
                ours.stop()
            for key, value in values.items():
                self.assertTrue(value.startswith(b'k8s\0') or value.startswith(b'{'), key)
            with Api(etcd, APISERVER) as theirs:
                # Controllers inside kube-apiserver set the status of these at once.
                self.assert_same(self.read_all(theirs, paths), as_we_see,
                                 ('FlowSchema', 'APIService', 'CustomResourceDefinition'))
                theirs.stop()
        self.assertEqual(self.refused, [])
        self.assertEqual(len(made_by_them), len(made_by_us))
        print(f'{len(made_by_us)} kinds written by each and read by the other', file=sys.stderr)


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    KEELSON = os.path.abspath(sys.argv.pop(1))
    unittest.main()
