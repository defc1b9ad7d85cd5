"""What all tests share: the kubectl under test, and tests made of steps."""
import unittest

from client import Failed


class UnderTest:
    """Stands for the kubectl that the suite is run with, once there is one."""
    client = None

    def __call__(self, *arguments, **more):
        return self.client(*arguments, **more)

    def __getattr__(self, name):
        return getattr(self.client, name)


kubectl = UnderTest()
MERGE = 'application/merge-patch+json'


def make_namespace(name):
    kubectl('create', 'namespace', name)
    code, _, err = kubectl.command('create', 'serviceaccount', 'default', '-n', name)
    if code and 'already exists' not in err:
        raise Failed(err)


class Steps(unittest.TestCase):
    """Tests made of steps that are judged one by one."""

    def step(self, name, function, *arguments):
        """Runs one step; later ones run even if it fails."""
        with self.subTest(name):
            return function(*arguments)

    def expect(self, text, wanted):
        if wanted not in text:
            raise Failed(f'{wanted!r} is not in {text!r}')
