#!/usr/bin/env python3
"""Drives a real kubectl through everything it does to an API server.

usage: suite.py [--kubectl PATH] [--url URL --token TOKEN] [--report FILE] KEELSON [TestCase.test ...]

Starts KEELSON with an empty store, or uses the server at --url. No controllers run, so what they
would do is written by the tests themselves. --report writes one line for each failed step.
"""
import argparse
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Kubectl, Server  # noqa: E402
from steps import kubectl  # noqa: E402
from test_cluster import Cluster  # noqa: E402, F401
from test_custom import Custom  # noqa: E402, F401
from test_deleting import Deleting  # noqa: E402, F401
from test_kinds import Kinds  # noqa: E402, F401
from test_nodes import Nodes  # noqa: E402, F401
from test_reading import Reading  # noqa: E402, F401
from test_writing import Writing  # noqa: E402, F401


class Report(unittest.TextTestResult):
    """Keeps one line for each failed step."""
    lines = []

    def note(self, test, error):
        text = str(error[1]).strip().splitlines()
        self.lines.append(f'{test.id().split(".", 1)[1]}: {text[0][:400] if text else error[0]}')

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.note(subtest, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, error)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kubectl', default=os.environ.get('KUBECTL') or shutil.which('kubectl'))
    parser.add_argument('--url')
    parser.add_argument('--token')
    parser.add_argument('--report')
    parser.add_argument('rest', nargs='*')
    arguments = parser.parse_args()
    binary = None if arguments.url else arguments.rest.pop(0)
    if not arguments.kubectl:
        raise SystemExit('no kubectl: install one or name it in KUBECTL')
    server = Server(binary) if binary else Server(url=arguments.url, token=arguments.token)
    kubectl.client = Kubectl(arguments.kubectl, server)
    try:
        program = unittest.main(argv=[sys.argv[0], *arguments.rest], exit=False,
                                testRunner=unittest.TextTestRunner(resultclass=Report))
    finally:
        server.stop()
    if arguments.report:
        with open(arguments.report, 'w') as file:
            file.writelines(line + '\n' for line in sorted(Report.lines))
    return 0 if program.result.wasSuccessful() else 1


if __name__ == '__main__':
    sys.exit(main())
