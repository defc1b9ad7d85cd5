#!/usr/bin/env python3
"""Runs the keelson binary with real sockets, signals and load, and holds its answers against those
recorded from kube-apiserver. usage: server_integration.py KEELSON H2_LOAD [TestCase.test ...]
"""
import http.client
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

KEELSON = None
H2_LOAD = None
HOST = '127.0.0.1'


def insecure_tls(alpn=('http/1.1',)):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(list(alpn))
    return context


TLS = insecure_tls()


# Without a better authorizer nobody is let in anonymously.
TOKEN = 'integration-test'
HEAD = b'Host: x\r\nAuthorization: Bearer ' + TOKEN.encode() + b'\r\n'


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


class Server:
    """One keelson process; its files live as long as the object."""

    def __init__(self, *flags, env=None, cert_dir=None, port=None):
        self.folder = tempfile.TemporaryDirectory()
        self.port = port or free_port()
        self.log_path = os.path.join(self.folder.name, 'log')
        tokens = os.path.join(self.folder.name, 'tokens.csv')
        with open(tokens, 'w') as file:
            file.write(f'{TOKEN},tester,1,"system:masters"\n')
        self.started = time.monotonic()
        with open(self.log_path, 'wb') as log:
            self.process = subprocess.Popen(
                [KEELSON, f'--secure-port={self.port}', f'--bind-address={HOST}',
                 f'--cert-dir={cert_dir or self.folder.name}', f'--data-dir={self.folder.name}/data',
                 f'--token-auth-file={tokens}', '-v=1', *flags],
                stderr=log, env=dict(os.environ, **(env or {})))
        while True:
            try:
                if self.get('/readyz')[0] == 200:
                    break
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() - self.started > 20:
                raise AssertionError('did not start:\n' + self.log())
            time.sleep(0.001)
        self.ready_after = time.monotonic() - self.started

    def log(self):
        with open(self.log_path) as log:
            return log.read()

    def connect(self):
        return TLS.wrap_socket(socket.create_connection((HOST, self.port), 10))

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPSConnection(HOST, self.port, timeout=10, context=TLS)
        try:
            connection.request(method, path, body, {'Authorization': 'Bearer ' + TOKEN, **(headers or {})})
            response = connection.getresponse()
            return response.status, response.headers, response.read().decode()
        finally:
            connection.close()

    def get(self, path, headers=None):
        return self.request('GET', path, headers=headers)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, timeout=20):
        code = self.process.wait(timeout)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def run(*flags):
    done = subprocess.run([KEELSON, *flags], capture_output=True, text=True, timeout=10)
    return done.returncode, done.stdout, done.stderr


class CommandLine(unittest.TestCase):
    def test_bad_flags_are_one_line_and_code_1(self):
        for flags, line in [
                (['--nosuch'], 'Error: unknown flag: --nosuch\n'),
                (['-x'], "Error: unknown shorthand flag: 'x' in -x\n"),
                (['-v=x'], 'Error: invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": '
                           'invalid syntax\n'),
                (['--request-timeout=x'], 'Error: invalid argument "x" for "--request-timeout" flag: time: '
                                          'invalid duration "x"\n'),
                (['--bind-address=zz'], 'Error: invalid argument "zz" for "--bind-address" flag: failed to '
                                        'parse IP: "zz"\n'),
                (['arg'], 'Error: "keelson" does not take any arguments, got ["arg"]\n'),
        ]:
            self.assertEqual(run(*flags), (1, '', line))

    def test_bad_values_are_one_log_line_and_code_1(self):
        code, out, err = run('--goaway-chance=1', '--secure-port=0')
        self.assertEqual((code, out), (1, ''))
        self.assertIn('"command failed" err="[--goaway-chance can not be less than 0 or greater than 0.02, '
                      '--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0]"', err)

    def test_help_and_version(self):
        code, out, err = run('--help')
        self.assertEqual((code, err), (0, ''))
        self.assertIn('\nSecure serving flags:\n\n      --bind-address ip ', out)
        self.assertEqual(run('--version'), (0, 'Kubernetes v1.36.4+keelson\n', ''))

    def test_a_taken_port_is_said(self):
        with socket.socket() as s, tempfile.TemporaryDirectory() as folder:
            s.bind((HOST, 0))
            s.listen()
            code, _, err = run(f'--secure-port={s.getsockname()[1]}', f'--bind-address={HOST}', f'--cert-dir={folder}')
        self.assertEqual(code, 1)
        self.assertIn('ddress already in use', err)


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.notify = os.path.join(tempfile.mkdtemp(), 'notify')
        cls.notify_socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        cls.notify_socket.bind(cls.notify)
        cls.debug = cls.notify + '.debug'
        cls.server = Server(f'--debug-socket-path={cls.debug}', env={'NOTIFY_SOCKET': cls.notify})

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.notify_socket.close()

    def test_systemd_is_told(self):
        self.notify_socket.settimeout(10)
        self.assertEqual(self.notify_socket.recv(100), b'READY=1\n')

    def test_codes_bodies_and_headers(self):
        plain = 'text/plain; charset=utf-8'
        for method, path, code, body, kind in [
                ('GET', '/healthz', 200, 'ok', plain),
                ('FOO', '/healthz', 200, 'ok', plain),
                ('GET', '/livez/ping', 200, 'ok', plain),
                ('GET', '/nosuch', 404, '404 page not found\n', plain),
                ('POST', '/nosuch', 404, '404 page not found\n', plain),
                ('GET', '/healthz/', 404, '404 page not found\n', plain),
                ('GET', '/debug/flags/v', 406, 'unsupported http method\n', 'text/plain'),
                ('GET', '/debug/pprof/nosuch', 404, 'Unknown profile\n', plain),
                ('DELETE', '/metrics', 200, 'metrics reset\n', plain),
                ('POST', '/version', 405,
                 '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server does '
                 'not allow this method on the requested resource","reason":"MethodNotAllowed","details":{},'
                 '"code":405}\n', 'application/json'),
                ('GET', '/api/v1/pods?timeout=x', 400,
                 '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"invalid timeout '
                 'specified in the request URL - time: invalid duration \\"x\\"","reason":"BadRequest","code":400}\n',
                 'application/json'),
        ]:
            status, headers, answer = self.server.request(method, path)
            self.assertEqual((status, answer, headers['Content-Type']), (code, body, kind), path)
            self.assertEqual(headers['Cache-Control'], 'no-cache, private')
            self.assertEqual(len(headers['Audit-Id']), 36)
            self.assertIn('Date', headers)
        self.assertEqual(self.server.get('/version', {'Audit-ID': 'mine'})[1]['Audit-Id'], 'mine')

    def test_head_has_the_length_and_no_body(self):
        status, headers, body = self.server.request('HEAD', '/healthz')
        self.assertEqual((status, headers['Content-Length'], body), (200, '2', ''))

    def test_metrics_are_text(self):
        self.server.get('/livez')
        status, headers, body = self.server.get('/metrics')
        self.assertEqual(status, 200)
        self.assertEqual(headers['Content-Type'], 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores')
        self.assertIn('Process-Start-Time-Unix', headers)
        self.assertRegex(body, r'apiserver_request_total\{code="200",component="",dry_run="",group="",resource="",'
                               r'scope="",subresource="/livez",verb="GET",version=""\} \d')
        self.assertIn('\nprocess_resident_memory_bytes ', body)
        self.assertIn('kubernetes_healthcheck{name="ping",type="livez"} 1\n', self.server.get('/metrics/slis')[2])

    def test_requests_are_counted_by_resource(self):
        self.server.get('/api/v1/namespaces/default')
        self.server.get('/api/v1/namespaces')
        body = self.server.get('/metrics')[2]
        for scope, verb in (('resource', 'GET'), ('cluster', 'LIST')):
            labels = (f'group="",resource="namespaces",scope="{scope}",subresource="",verb="{verb}",'
                      'version="v1"')
            self.assertRegex(body, r'apiserver_request_total\{code="200",component="apiserver",'
                                   rf'dry_run="",{labels}\}} \d')
            self.assertRegex(body, r'apiserver_request_duration_seconds_count\{component="apiserver",'
                                   rf'dry_run="",{labels}\}} \d')
            self.assertRegex(body, r'apiserver_response_sizes_sum\{component="apiserver",'
                                   rf'{labels}\}} \d')

    def test_verbosity_changes_while_running(self):
        self.assertEqual(self.server.request('PUT', '/debug/flags/v', '2')[2],
                         'successfully set klog.logging.verbosity to 2\n')
        self.assertEqual(self.server.request('PUT', '/debug/flags/v', '1')[0], 200)

    def test_profiles(self):
        status, headers, _ = self.server.get('/debug/pprof/')
        self.assertEqual((status, headers['Content-Type']), (200, 'text/html; charset=utf-8'))
        connection = http.client.HTTPSConnection(HOST, self.server.port, timeout=20, context=TLS)
        connection.request('GET', '/debug/pprof/profile?seconds=1', headers={'Authorization': 'Bearer ' + TOKEN})
        response = connection.getresponse()
        self.assertEqual(response.status, 200)
        self.assertEqual(response.headers['Content-Disposition'], 'attachment; filename="profile"')
        self.assertEqual(response.read(2), b'\x1f\x8b')
        connection.close()
        status, headers, _ = self.server.get('/debug/pprof')
        self.assertEqual((status, headers['Location']), (302, '/debug/pprof/'))

    def test_debug_socket_needs_no_identity(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.debug)
            s.sendall(b'GET /debug/flags/v HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
            self.assertTrue(s.recv(100).startswith(b'HTTP/1.1 406 '))
        self.assertEqual(os.stat(self.debug).st_mode & 0o777, 0o600)

    def test_a_withheld_body_times_out(self):
        with self.server.connect() as s:
            s.sendall(b'PUT /debug/flags/v?timeout=300ms HTTP/1.1\r\n' + HEAD + b'Content-Length: 1\r\n\r\n')
            answer = b''
            while b'"code":504' not in answer:
                piece = s.recv(4096)
                self.assertTrue(piece, answer)
                answer += piece
            self.assertTrue(answer.startswith(b'HTTP/1.1 504 '), answer)

    def test_bad_input_never_kills_it(self):
        port = self.server.port
        # Not TLS at all.
        for garbage in [b'GET / HTTP/1.1\r\n\r\n', b'\0' * 64, b'\x16\x03\x01\xff\xff' + b'a' * 600]:
            with socket.create_connection((HOST, port), 10) as s:
                s.sendall(garbage)
                s.settimeout(5)
                try:
                    while s.recv(4096):
                        pass
                except OSError:
                    pass
        # TLS with bad HTTP inside.
        for request, code in [
                (b'GARBAGE\r\n\r\n', 400),
                (b'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n', 400),
                (b'GET / HTTP/1.1\r\n\r\n', 400),
                (b'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400),
                (b'GET / HTTP/1.1\r\nHost: x\r\nX: ' + b'a' * (2 << 20) + b'\r\n\r\n', 431),
                (b'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 505),
        ]:
            with self.server.connect() as s:
                try:
                    s.sendall(request)
                except OSError:
                    pass  # refused while we were still talking
                try:
                    answer = s.recv(200)
                except OSError:
                    answer = b''
                self.assertTrue(answer.startswith(b'HTTP/1.1 %d ' % code) or (code == 431 and answer == b''),
                                (request[:60], answer))
        # HTTP/2 with bad frames.
        for frames in [b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + b'\xff' * 100, b'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n']:
            with insecure_tls(('h2',)).wrap_socket(socket.create_connection((HOST, port), 10)) as s:
                self.assertEqual(s.selected_alpn_protocol(), 'h2')
                s.sendall(frames)
                s.settimeout(5)
                try:
                    while s.recv(4096):
                        pass
                except OSError:
                    pass
        self.assertEqual(self.server.get('/readyz')[0], 200)
        self.assertIsNone(self.server.process.poll())


class Shutdown(unittest.TestCase):
    def test_readyz_turns_red_first_while_serving_goes_on(self):
        with Server('--shutdown-delay-duration=1s') as server:
            server.terminate()
            deadline = time.monotonic() + 5
            while server.get('/readyz')[0] == 200:
                self.assertLess(time.monotonic(), deadline)
            self.assertEqual(server.get('/readyz/shutdown')[2],
                             'internal server error: process is shutting down\n')
            self.assertEqual(server.get('/livez')[0], 200)
            self.assertEqual(server.get('/version')[0], 200)
            self.assertEqual(server.wait(), 0)
            log = server.log()
            events = ['ShutdownInitiated', 'AfterShutdownDelayDuration', 'NotAcceptingNewRequest',
                      'HTTPServerStoppedListening', 'InFlightRequestsDrained']
            places = [log.index(f'"[graceful-termination] shutdown event" name="{event}"') for event in events]
            self.assertEqual(places, sorted(places))
            self.assertIn('[graceful-termination] apiserver is exiting', log)

    def test_second_signal_ends_at_once(self):
        with Server('--shutdown-delay-duration=1m') as server:
            server.process.send_signal(signal.SIGINT)
            while server.get('/readyz')[0] == 200:
                pass
            server.terminate()
            self.assertEqual(server.wait(), 1)

    def test_a_request_under_way_is_finished(self):
        with Server() as server, server.connect() as s:
            s.sendall(b'PUT /debug/flags/v HTTP/1.1\r\n' + HEAD + b'Content-Length: 1\r\n\r\n')
            self.wait_for_in_flight(server)
            server.terminate()
            self.wait_for_log(server, 'name="HTTPServerStoppedListening"')
            with self.assertRaises(OSError):
                socket.create_connection((HOST, server.port), 5).close()
            s.sendall(b'1')
            answer = s.recv(4096)
            self.assertTrue(answer.startswith(b'HTTP/1.1 200 '), answer)
            self.assertIn(b'connection: close', answer.lower())
            self.assertEqual(server.wait(), 0)

    def test_with_retry_after_new_requests_get_429_until_drained(self):
        with Server('--shutdown-send-retry-after') as server, server.connect() as s:
            s.sendall(b'PUT /debug/flags/v HTTP/1.1\r\n' + HEAD + b'Content-Length: 1\r\n\r\n')
            self.wait_for_in_flight(server)
            server.terminate()
            self.wait_for_log(server, 'name="NotAcceptingNewRequest"')
            status, headers, body = server.get('/version')
            self.assertEqual((status, headers['Retry-After'], headers['Connection']), (429, '5', 'close'))
            self.assertEqual(body, 'The apiserver is shutting down, please try again later.\n')
            self.assertEqual(server.get('/readyz')[0], 500)
            self.assertEqual(server.get('/livez')[0], 200)
            s.sendall(b'1')
            self.assertTrue(s.recv(4096).startswith(b'HTTP/1.1 200 '))
            self.assertEqual(server.wait(), 0)

    def test_watches_end_whole_within_their_grace(self):
        with Server('--shutdown-watch-termination-grace-period=5s') as server:
            watches = [server.connect() for _ in range(8)]
            for s in watches:
                s.sendall(b'GET /api/v1/configmaps?watch=1 HTTP/1.1\r\n' + HEAD + b'\r\n')
                self.assertTrue(s.recv(4096).startswith(b'HTTP/1.1 200 '))
            server.terminate()
            for s in watches:
                with s:
                    last = b''
                    while piece := s.recv(4096):
                        last = piece
                    self.assertTrue(last.endswith(b'0\r\n\r\n'), last)  # ended, not cut
            self.assertEqual(server.wait(), 0)

    def wait_for_log(self, server, text):
        deadline = time.monotonic() + 10
        while text not in server.log():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)

    def wait_for_in_flight(self, server):
        # The server has read the head once it waits for the body; a later connection's answer proves
        # that its io threads have turned since.
        for _ in range(8):
            server.get('/livez')


class Restarts(unittest.TestCase):
    """Clients that never pause, and a server that is restarted under them: after a connection was
    accepted no request may be lost, and none may be answered with 5xx."""
    RESTARTS = 20
    CLIENTS = 4

    def setUp(self):
        self.port = free_port()
        self.stop = threading.Event()
        self.faults = []
        self.answered = 0
        self.lock = threading.Lock()

    def note(self, count, fault=None):
        with self.lock:
            self.answered += count
            if fault:
                self.faults.append(fault)

    def exchange(self, s, reader):
        """One request. Returns whether the connection stays open."""
        s.sendall(b'GET /version HTTP/1.1\r\n' + HEAD + b'\r\n')
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            line = reader.readline()
            if not line:
                raise OSError('connection ended before the answer')
            head += line
        status = int(head.split(b' ', 2)[1])
        length = int([line for line in head.lower().split(b'\r\n') if line.startswith(b'content-length:')][0][15:])
        if len(reader.read(length)) != length:
            raise OSError('answer cut')
        if status >= 500:
            raise OSError(f'answered {status}')
        return b'connection: close' not in head.lower()

    def client(self, keep_alive):
        while not self.stop.is_set():
            try:
                raw = socket.create_connection((HOST, self.port), 10)
            except OSError:
                time.sleep(0.002)
                continue
            done = 0
            try:
                with TLS.wrap_socket(raw) as s, s.makefile('rb') as reader:
                    while self.exchange(s, reader):
                        done += 1
                        if not keep_alive or self.stop.is_set():
                            break
                    else:
                        done += 1
                self.note(done)
            except OSError as e:
                self.note(done, f'after {done} answers: {e!r}')

    def run_restarts(self, keep_alive):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(cert_dir=folder, port=self.port)
            clients = [threading.Thread(target=self.client, args=(keep_alive,)) for _ in range(self.CLIENTS)]
            for client in clients:
                client.start()
            try:
                for _ in range(self.RESTARTS):
                    goal = self.answered + 40
                    deadline = time.monotonic() + 20
                    while self.answered < goal and not keep_alive:
                        self.assertLess(time.monotonic(), deadline, self.faults)
                        time.sleep(0.005)
                    if keep_alive:
                        time.sleep(0.2)  # answers are only counted when a connection ends
                    with server:
                        server.terminate()
                        self.assertEqual(server.wait(), 0, server.log())
                    server = Server(cert_dir=folder, port=self.port)
            finally:
                self.stop.set()
                for client in clients:
                    client.join()
                server.__exit__()
        print(f'{"kept-alive" if keep_alive else "fresh"} connections: {self.RESTARTS} restarts, '
              f'{self.answered} answers, {len(self.faults)} faults')
        self.assertEqual(self.faults, [])
        self.assertGreater(self.answered, 10 * self.RESTARTS)

    def test_http2_connections(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(cert_dir=folder, port=self.port)
            load = subprocess.Popen([H2_LOAD, f'https://{HOST}:{self.port}/version', TOKEN, '8'],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(self.RESTARTS):
                time.sleep(0.2)
                with server:
                    server.terminate()
                    self.assertEqual(server.wait(), 0, server.log())
                server = Server(cert_dir=folder, port=self.port)
            out = load.communicate(timeout=20)[0]
            server.__exit__()
        print(f'HTTP/2 connections: {self.RESTARTS} restarts, {out}', end='')
        self.assertEqual(load.returncode, 0, out)
        answers, over_http2 = (int(part.split()[0]) for part in out.split(',')[:2])
        self.assertEqual(answers, over_http2)
        self.assertGreater(answers, 10 * self.RESTARTS)

    def test_fresh_connections(self):
        self.run_restarts(keep_alive=False)

    def test_kept_alive_connections(self):
        self.run_restarts(keep_alive=True)


class ColdStart(unittest.TestCase):
    def test_first_answer_comes_soon(self):
        with tempfile.TemporaryDirectory() as folder:
            times = []
            for _ in range(5):
                with Server(cert_dir=folder) as server:
                    times.append(server.ready_after)
        print('cold start to /readyz 200: ' + ', '.join(f'{t * 1000:.0f} ms' for t in times))
        self.assertLess(min(times), 1.0)  # a machine under load; the figure above is the measurement


if __name__ == '__main__':
    KEELSON = os.path.abspath(sys.argv.pop(1))
    H2_LOAD = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
