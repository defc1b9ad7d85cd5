"""A kubelet that says what it was asked: enough of one for logs, exec and tunnels."""
import base64
import hashlib
import http.server
import ssl
import struct
import threading
import urllib.parse

WEBSOCKET_KEY = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'  # RFC 6455
STDIN, STDOUT, ERROR, CLOSE = 0, 1, 3, 255  # channels of v5.channel.k8s.io
SUCCESS = b'{"metadata":{},"status":"Success"}'


class Kubelet:
    def __init__(self, certificate, key):
        self.asked = []  # "METHOD path?query"
        handler = type('Handler', (Handler,), {'kubelet': self})
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
        self.server.daemon_threads = True
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    kubelet = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.kubelet.asked.append(f'{self.command} {self.path}')
        url = urllib.parse.urlsplit(self.path)
        if url.path.startswith('/containerLogs/'):
            self.answer(200, b'first line\nsecond line\n')
        elif self.headers.get('Upgrade', '').lower() == 'websocket':
            self.websocket(urllib.parse.parse_qs(url.query))
        elif self.headers.get('Upgrade'):
            self.echo()
        elif url.path == '/healthz':
            self.answer(200, b'ok')
        else:
            self.answer(404, b'404 page not found\n')

    do_POST = do_GET

    def answer(self, code, body):
        self.send_response(code)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def switch(self, **headers):
        self.send_response(101)
        self.send_header('Connection', 'Upgrade')
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        self.close_connection = True

    def echo(self):
        """Any other protocol: bytes come back as they are."""
        self.switch(Upgrade=self.headers['Upgrade'])
        while piece := self.connection.recv(4096):
            self.connection.sendall(piece)

    def websocket(self, query):
        if 'v5.channel.k8s.io' not in self.headers.get('Sec-WebSocket-Protocol', ''):
            return self.answer(400, b'no such protocol')
        digest = hashlib.sha1((self.headers['Sec-WebSocket-Key'] + WEBSOCKET_KEY).encode()).digest()
        self.switch(Upgrade='websocket', Sec_WebSocket_Protocol='v5.channel.k8s.io',
                    Sec_WebSocket_Accept=base64.b64encode(digest).decode())
        said = ' '.join(query.get('command', ['attached'])).encode()
        if 'input' in query:
            said += b': ' + self.stdin()
        self.frame(2, bytes([STDOUT]) + said + b'\n')
        self.frame(2, bytes([ERROR]) + SUCCESS)
        self.frame(8, struct.pack('>H', 1000))

    def frame(self, opcode, payload):
        assert len(payload) < 126
        self.wfile.write(bytes([0x80 | opcode, len(payload)]) + payload)
        self.wfile.flush()

    def stdin(self):
        """Everything up to the client's end of it."""
        data = b''
        while True:
            first, second = self.rfile.read(2)
            size = second & 0x7f
            if size == 126:
                size = struct.unpack('>H', self.rfile.read(2))[0]
            mask = self.rfile.read(4)
            payload = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(size)))
            if first & 0x0f == 8 or payload[:1] == bytes([CLOSE]):
                return data
            if payload[:1] == bytes([STDIN]):
                data += payload[1:]
