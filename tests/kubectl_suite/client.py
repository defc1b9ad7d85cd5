"""A real kubectl against a server of its own, or against one that runs already."""
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import time

TOKEN = 'kubectl-suite'


class Server:
    """A keelson process with an empty store, or a running server given as (url, token)."""

    def __init__(self, binary=None, url=None, token=TOKEN, flags=()):
        self.folder = tempfile.TemporaryDirectory(prefix='kubectl-suite-')
        self.token, self.process, self.certificates = token, None, None
        self.url = url or f'https://127.0.0.1:{free_port()}'
        if binary:
            self.start(binary, flags)
        self.kubeconfig = os.path.join(self.folder.name, 'kubeconfig')
        with open(self.kubeconfig, 'w') as file:
            json.dump({
                'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c',
                'clusters': [{'name': 'c', 'cluster': {'server': self.url,
                                                       'insecure-skip-tls-verify': True}}],
                'users': [{'name': 'u', 'user': {'token': self.token}}],
                'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'u'}}]}, file)

    def start(self, binary, flags):
        folder = self.folder.name
        with open(f'{folder}/tokens.csv', 'w') as file:
            file.write(f'{self.token},admin,admin,"system:masters"\n')
        self.log = open(f'{folder}/log', 'w+')
        self.process = subprocess.Popen(
            [binary, '--bind-address=127.0.0.1', f'--secure-port={self.url.rsplit(":", 1)[1]}',
             f'--cert-dir={folder}/certs', f'--data-dir={folder}/data',
             f'--token-auth-file={folder}/tokens.csv', '--authorization-mode=Node,RBAC',
             '--allow-privileged', *flags], stderr=self.log)
        self.certificates = [f'{folder}/certs/apiserver.{end}' for end in ('crt', 'key')]
        deadline = time.monotonic() + 30
        while True:
            try:
                if self.request('GET', '/readyz')[0] == 200:
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit('the server did not start:\n' + open(self.log.name).read())
            time.sleep(0.01)

    def connect(self):
        """A TLS connection, for what no client library does."""
        host, port = self.url.split('//')[1].split(':')
        return any_server().wrap_socket(socket.create_connection((host, int(port)), 20))

    def request(self, method, path, body=None, content_type='application/json'):
        """For what kubectl cannot do itself, such as the work of controllers."""
        connection = http.client.HTTPSConnection(self.url.split('//')[1], context=any_server(),
                                                 timeout=20)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {
                'Authorization': 'Bearer ' + self.token, 'Content-Type': content_type})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
        self.folder.cleanup()


def any_server():
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    return tls


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Failed(AssertionError):
    """A command that did not do what it should; the text says which."""


class Kubectl:
    def __init__(self, binary, server):
        self.binary, self.server = binary, server
        self.home = os.path.join(server.folder.name, 'home')
        os.makedirs(self.home, exist_ok=True)
        self.env = dict(os.environ, KUBECONFIG=server.kubeconfig, HOME=self.home)
        version = json.loads(subprocess.run(
            [binary, 'version', '--client', '-o', 'json'], capture_output=True, env=self.env,
            check=True).stdout)['clientVersion']
        # A build from source without a stamp is taken for a new one.
        self.minor = int(re.sub(r'\D', '', version.get('minor') or '') or 99)

    def command(self, *arguments, stdin=None, env=None, timeout=60):
        """Runs to the end; returns exit code, stdout, stderr."""
        if isinstance(stdin, (dict, list)):
            stdin = json.dumps(stdin)
        done = subprocess.run([self.binary, *arguments], input=stdin, capture_output=True, text=True,
                              env=dict(self.env, **(env or {})), timeout=timeout)
        return done.returncode, done.stdout, done.stderr

    def __call__(self, *arguments, stdin=None, env=None, code=0):
        """What a command printed; it must end with `code`."""
        got, out, err = self.command(*arguments, stdin=stdin, env=env)
        if got != code:
            raise Failed(f'kubectl {" ".join(arguments)}: exit {got}: {(err or out).strip()}')
        return out

    def json(self, *arguments, **more):
        return json.loads(self(*arguments, '-o', 'json', **more))

    def start(self, *arguments):
        """A command that goes on until it is stopped; its output can be read line by line."""
        return subprocess.Popen([self.binary, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, env=self.env)
