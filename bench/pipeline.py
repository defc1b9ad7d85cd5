#!/usr/bin/env python3
"""Server CPU per request for a 3.4 KB answer over TLS and HTTP/2: nghttpd, the transport alone, and
the whole pipeline, one after another in the same run. usage: bench/pipeline.py [--requests N]
"""
import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / 'build' / 'bin' / 'bench'
PATH = '/api/v1/namespaces/default/pods/a'
TICK = os.sysconf('SC_CLK_TCK')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def cpu_seconds(pid):
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def wait_for(port, process):
    for _ in range(500):
        if process.poll() is not None:
            sys.exit(f'server ended with {process.returncode}')
        try:
            socket.create_connection(('127.0.0.1', port), 1).close()
            return
        except OSError:
            time.sleep(0.01)
    sys.exit('server did not start')


def measure(name, command, port, requests):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        url = f'https://127.0.0.1:{port}{PATH}'
        load = ['h2load', '-c', '4', '-m', '16', '-t', '1']
        subprocess.run(load + ['-n', '2000', url], check=True, capture_output=True)
        before = cpu_seconds(process.pid)
        out = subprocess.run(load + ['-n', str(requests), url], check=True, capture_output=True,
                             text=True).stdout
        spent = cpu_seconds(process.pid) - before
        done = int(re.search(r'(\d+) 2xx', out).group(1))
        if done != requests:
            sys.exit(f'{name}: {done} of {requests} requests answered 200')
        rate = re.search(r'([\d.]+) req/s', out).group(1)
        print(f'{name:<28}{spent / requests * 1e6:8.1f} us CPU per request{float(rate):12.0f} req/s')
        return spent / requests * 1e6
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--requests', type=int, default=100000)
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    try:
        root = Path(folder) / 'root'
        target = root / PATH[1:]
        target.parent.mkdir(parents=True)
        target.write_bytes(b'x' * 3400)
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256',
                        '-nodes', '-keyout', f'{folder}/key', '-out', f'{folder}/crt', '-subj', '/CN=bench',
                        '-days', '2'], check=True, capture_output=True)
        port = free_port()
        measure('nghttpd', ['nghttpd', '-n', '1', '-d', str(root), str(port), f'{folder}/key', f'{folder}/crt'],
                port, options.requests)
        port = free_port()
        measure('transport (http_static)',
                [str(PROGRAMS / 'http_static'), '--port', str(port), '--bytes', '3400', '--threads', '1'],
                port, options.requests)
        port = free_port()
        measure('whole pipeline', [str(PROGRAMS / 'pipeline_static'), '--port', str(port), '--cert-dir',
                                   folder], port, options.requests)
    finally:
        shutil.rmtree(folder)


if __name__ == '__main__':
    main()
