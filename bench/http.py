#!/usr/bin/env python3
"""Measures the HTTP transport beside nghttpd in the same run.

    bench/http.py [--server PROGRAM] [--requests N] [--rounds N] [--idle N]

Prints, for a static answer of 3400 bytes over TLS and HTTP/2 (h2load -c 4 -m 16 -t 1), the CPU time
each server spent per request (the least of the rounds: noise only adds), and what N idle TLS
connections cost the server in resident memory. PROGRAM is started as http_static is (bench/http_static.cc)
and must print "listening on ADDRESS".
"""

import argparse
import os
import pathlib
import re
import resource
import socket
import ssl
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BYTES = 3400
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def start_own(program, extra=()):
    process = subprocess.Popen([program, "--bytes", str(BYTES), *extra],
                               stdout=subprocess.PIPE, text=True)
    port = int(process.stdout.readline().rsplit(":", 1)[1])
    return process, port


def start_nghttpd(folder):
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", cert, "-days", "1", "-subj", "/CN=localhost"],
                   check=True, capture_output=True)
    (folder / "static").write_bytes(b"x" * BYTES)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(["nghttpd", "-d", folder, str(port), key, cert])
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return process, port
        except OSError:
            subprocess.run(["sleep", "0.05"], check=True)
    raise SystemExit("nghttpd does not start")


def microseconds_per_request(pid, port, requests):
    before = cpu_seconds(pid)
    report = subprocess.run(["h2load", "-c", "4", "-m", "16", "-t", "1", "-n", str(requests),
                             f"https://127.0.0.1:{port}/static"], capture_output=True, text=True)
    if f"{requests} succeeded" not in report.stdout:
        raise SystemExit(report.stdout + report.stderr)
    return (cpu_seconds(pid) - before) * 1e6 / requests


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def idle_connections(pid, port, count):
    """Opens connections that serve one request each and then stay; returns KiB per connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 100), hard))
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    hello = (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") +
             frame(1, 5, 1, b"\x82\x87\x84\x41\x01x"))
    before = resident_kib(pid)
    kept = []
    for _ in range(count):
        raw = socket.create_connection(("127.0.0.1", port))
        connection = context.wrap_socket(raw)
        connection.sendall(hello)
        received = 0
        while received < BYTES:
            received += len(connection.recv(65536))
        kept.append(connection)
    return (resident_kib(pid) - before) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", default=ROOT / "build/bin/bench/http_static")
    parser.add_argument("--requests", type=int, default=60000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--idle", type=int, default=10000)
    options = parser.parse_args()
    own, nghttpd = [], []
    with tempfile.TemporaryDirectory() as folder:
        own_process, own_port = start_own(options.server)
        other_process, other_port = start_nghttpd(pathlib.Path(folder))
        try:
            for _ in range(options.rounds):
                own.append(microseconds_per_request(own_process.pid, own_port, options.requests))
                nghttpd.append(microseconds_per_request(other_process.pid, other_port, options.requests))
            print(f"static {BYTES} B, TLS + h2, -c 4 -m 16: "
                  f"own {min(own):.1f} us CPU per request, nghttpd {min(nghttpd):.1f} us")
            if options.idle:
                cost = idle_connections(own_process.pid, own_port, options.idle)
                print(f"{options.idle} idle TLS connections (one h2 request each): {cost:.1f} KiB each")
        finally:
            own_process.terminate()
            other_process.terminate()
            own_process.wait()
            other_process.wait()


if __name__ == "__main__":
    main()
