#!/usr/bin/env python3
"""Runs keelson with its embedded store: what is stored in which form, snapshots of a server that
serves, restoring them, and how old versions expire. usage: store_integration.py KEELSON [TEST ...]
"""
import base64
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

KEELSON = None
HOST = '127.0.0.1'
TOKEN = 'store-test'
TLS = ssl.create_default_context()
TLS.check_hostname = False
TLS.verify_mode = ssl.CERT_NONE


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


class Server:
    """One keelson process over a data folder that outlives it."""

    def __init__(self, folder, *flags):
        self.port = free_port()
        self.log_path = os.path.join(folder, 'log')
        tokens = os.path.join(folder, 'tokens.csv')
        with open(tokens, 'w') as file:
            file.write(f'{TOKEN},tester,1,"system:masters"\n')
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(
                [KEELSON, f'--secure-port={self.port}', f'--bind-address={HOST}',
                 f'--data-dir={folder}/data', f'--token-auth-file={tokens}', *flags], stderr=log)
        deadline = time.monotonic() + 30
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError('did not start:\n' + open(self.log_path).read())
            time.sleep(0.01)

    def ready(self):
        try:
            return self.request('GET', '/readyz', parse=False)[0] == 200
        except OSError:
            return False

    def request(self, method, path, body=None, parse=True):
        connection = http.client.HTTPSConnection(HOST, self.port, timeout=20, context=TLS)
        try:
            headers = {'Authorization': 'Bearer ' + TOKEN, 'Content-Type': 'application/json'}
            connection.request(method, path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            text = response.read().decode()
            return response.status, json.loads(text) if parse else text
        finally:
            connection.close()

    def create(self, path, body):
        status, made = self.request('POST', path, body)
        assert status == 201, made
        return made

    def list(self, path):
        status, answer = self.request('GET', path)
        assert status == 200, answer
        return answer

    def watch(self, path):
        """The events of a watch that ends by itself."""
        status, text = self.request('GET', path + '&watch=1&timeoutSeconds=1', parse=False)
        assert status == 200, text
        return [json.loads(line) for line in text.splitlines()]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def store(verb, folder, *arguments):
    done = subprocess.run([KEELSON, 'store', verb, f'--data-dir={folder}/data', *arguments],
                          capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def stored_revisions(folder):
    facts = dict(line.split(': ') for line in store('stats', folder)[1].splitlines())
    return int(facts['revision']), int(facts['compacted revision'])


def pod_template(name):
    return {'metadata': {'name': name, 'labels': {'n': name}},
            'template': {'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}


OBJECTS = [
    ('/api/v1/namespaces', {'metadata': {'name': 'shop'}}),
    ('/api/v1/namespaces/shop/configmaps', {'metadata': {'name': 'c'}, 'data': {'k': 'v' * 5000}}),
    ('/api/v1/namespaces/shop/secrets', {'metadata': {'name': 's'}, 'stringData': {'k': 'v'}}),
    ('/api/v1/namespaces/shop/podtemplates', pod_template('t')),
    ('/api/v1/namespaces/shop/services',
     {'metadata': {'name': 'web'}, 'spec': {'ports': [{'port': 80}]}}),
    ('/api/v1/namespaces/shop/events',
     {'metadata': {'name': 'e'}, 'reason': 'r', 'message': 'm', 'type': 'Normal',
      'involvedObject': {'kind': 'Pod', 'namespace': 'shop', 'name': 'p'}}),
    ('/apis/apps/v1/namespaces/shop/deployments',
     {'metadata': {'name': 'd'},
      'spec': {'selector': {'matchLabels': {'a': 'b'}},
               'template': {'metadata': {'labels': {'a': 'b'}},
                            'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}}),
    ('/apis/coordination.k8s.io/v1/namespaces/shop/leases',
     {'metadata': {'name': 'l'}, 'spec': {'holderIdentity': 'me'}}),
    ('/apis/rbac.authorization.k8s.io/v1/clusterroles',
     {'metadata': {'name': 'r'}, 'rules': [{'apiGroups': [''], 'resources': ['pods'],
                                            'verbs': ['get']}]}),
]
# What values begin with; JSON with nothing that the others would not hold.
FIRST_BYTES = {'': b'kls\0', 'application/vnd.kubernetes.protobuf': b'k8s\0'}


class Snapshots(unittest.TestCase):
    def read_back(self, server):
        return {f'{path}/{body["metadata"]["name"]}':
                server.request('GET', f'{path}/{body["metadata"]["name"]}')
                for path, body in OBJECTS}

    def check_form(self, media_type):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            flag = f'--storage-media-type={media_type}'
            file = os.path.join(first, 'snapshot')
            with Server(first, flag) as server:
                for path, body in OBJECTS:
                    server.create(path, body)
                wanted = self.read_back(server)
                self.assertEqual({code for code, _ in wanted.values()}, {200})
                code, out, err = store('snapshot', first, file)
                self.assertEqual(code, 0, err)
                self.assertIn('revision: ', out)
                code, out, err = store('verify', first)
                self.assertEqual((code, out.splitlines()[-1]), (0, 'no problems'), err)
                server.create('/api/v1/namespaces/shop/configmaps', {'metadata': {'name': 'late'}})
                server.stop()
            with open(file, 'rb') as snapshot:
                content = snapshot.read()
            for form, first in FIRST_BYTES.items():
                self.assertEqual(first in content, form == media_type, form)
            code, out, err = store('restore', second, file)
            self.assertEqual(code, 0, err)
            code, out, err = store('verify', second)
            self.assertEqual((code, out.splitlines()[-1]), (0, 'no problems'), err)
            self.assertIn('keys under /registry/configmaps/: ', out)
            code, out, err = store('restore', second, file)
            self.assertEqual(code, 1)
            self.assertIn('exists; restore makes a new folder', err)
            # What is written in one form is read whichever form is written now.
            with Server(second) as server:
                self.assertEqual(self.read_back(server), wanted)
                self.assertEqual(
                    server.request('GET', '/api/v1/namespaces/shop/configmaps/late')[0], 404)
                server.stop()

    def test_records(self):
        self.check_form('')

    def test_json(self):
        self.check_form('application/json')

    def test_protobuf(self):
        self.check_form('application/vnd.kubernetes.protobuf')

    def test_a_damaged_snapshot_is_refused(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            file = os.path.join(folder, 'snapshot')
            with Server(folder) as server:
                self.assertEqual(store('snapshot', folder, file)[0], 0)
                server.stop()
            with open(file, 'r+b') as snapshot:
                snapshot.seek(os.path.getsize(file) // 2)
                byte = snapshot.read(1)
                snapshot.seek(-1, os.SEEK_CUR)
                snapshot.write(bytes([byte[0] ^ 1]))
            code, _, err = store('restore', other, file)
            self.assertEqual(code, 1, err)
            self.assertFalse(os.path.exists(f'{other}/data/store'))


class History(unittest.TestCase):
    PATH = '/api/v1/namespaces/default/podtemplates'

    def expired(self, answer, message):
        self.assertEqual(answer['kind'], 'Status', answer)
        self.assertEqual((answer['code'], answer['reason']), (410, 'Expired'), answer)
        self.assertRegex(answer['message'], message)

    def check_expired(self, server, version):
        status, answer = server.request(
            'GET', f'{self.PATH}?resourceVersion={version}&resourceVersionMatch=Exact')
        self.assertEqual(status, 410)
        self.expired(answer, '^The resourceVersion for the provided list is too old.$')
        events = server.watch(f'{self.PATH}?resourceVersion={version}')
        self.assertEqual([e['type'] for e in events], ['ERROR'], events)
        self.expired(events[0]['object'], rf'^too old resource version: {version} \(\d+\)$')
        events = server.watch(
            f'/api/v1/namespaces/default/events?resourceVersion={version}')
        self.expired(events[0]['object'],
                     '^The resourceVersion for the provided watch is too old.$')
        point = json.dumps({'v': 'meta.k8s.io/v1', 'rv': version, 'start': '/a\0'}).encode()
        token = base64.urlsafe_b64encode(point).decode().rstrip('=')
        status, answer = server.request('GET', f'{self.PATH}?limit=1&continue={token}')
        self.assertEqual(status, 410)
        self.expired(answer, '^The provided continue parameter is too old to display a consistent')
        # The token that comes with the refusal goes on with what there is now.
        token = answer['metadata']['continue']
        rest = server.list(f'{self.PATH}?limit=5&continue={token}')
        self.assertEqual([o['metadata']['name'] for o in rest['items']], ['b'])

    def test_versions_older_than_the_window_expire(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server(folder, '--etcd-compaction-interval=1s') as server:
                first = server.create(self.PATH, pod_template('a'))
                version = int(first['metadata']['resourceVersion'])
                server.create(self.PATH, pod_template('b'))
                deadline = time.monotonic() + 30
                while stored_revisions(folder)[1] <= version:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.1)
                self.check_expired(server, version)

    def test_the_past_is_there_until_it_is_compacted(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server(folder) as server:
                version = int(server.create(self.PATH, pod_template('a'))['metadata']
                              ['resourceVersion'])
                server.create(self.PATH, pod_template('b'))
                server.request('DELETE', self.PATH + '/a')
                code, _, err = store('compact', folder)
                self.assertEqual(code, 1)
                self.assertIn(f'process {server.process.pid} (keelson)', err)
                server.stop()
            with Server(folder) as server:
                listed = server.list(
                    f'{self.PATH}?resourceVersion={version}&resourceVersionMatch=Exact')
                self.assertEqual([o['metadata']['name'] for o in listed['items']], ['a'])
                events = server.watch(f'{self.PATH}?resourceVersion={version}')
                self.assertEqual([(e['type'], e['object']['metadata']['name']) for e in events],
                                 [('ADDED', 'b'), ('DELETED', 'a')])
                server.stop()
            code, out, err = store('compact', folder)
            self.assertEqual(code, 0, err)
            revision, compacted = stored_revisions(folder)
            self.assertEqual(revision, compacted)
            self.assertEqual(store('verify', folder)[0], 0)
            with Server(folder) as server:
                self.check_expired(server, version)

    def test_in_memory_it_expires_too(self):
        with tempfile.TemporaryDirectory() as folder:
            flags = ['--data-dir=', f'--cert-dir={folder}', '--etcd-compaction-interval=1s']
            with Server(folder, *flags) as server:
                version = int(server.create(self.PATH, pod_template('a'))['metadata']
                              ['resourceVersion'])
                server.create(self.PATH, pod_template('b'))
                time.sleep(1.2)  # the window itself
                self.check_expired(server, version)


class Folders(unittest.TestCase):
    def test_a_second_server_is_told_who_has_the_folder(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
            second = subprocess.run(
                [KEELSON, f'--secure-port={free_port()}', f'--data-dir={folder}/data'],
                capture_output=True, text=True, timeout=30)
            self.assertEqual(second.returncode, 1)
            self.assertIn(f'process {server.process.pid} (keelson)', second.stderr)

    def test_a_damaged_store_is_refused_with_what_is_damaged(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server(folder) as server:
                server.stop()
            files = f'{folder}/data/store/db'
            os.remove(os.path.join(files, 'CURRENT'))
            refused = subprocess.run(
                [KEELSON, f'--secure-port={free_port()}', f'--data-dir={folder}/data'],
                capture_output=True, text=True, timeout=30)
            self.assertEqual(refused.returncode, 1)
            self.assertIn('CURRENT is missing, but there are data files', refused.stderr)


if __name__ == '__main__':
    KEELSON = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
